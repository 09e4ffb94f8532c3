// Loaded first (node --import): finds the pinned packages in the cache folder,
// since nothing is ever installed into the source tree.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const ours = new URL('../', import.meta.url).href;
const cache = pathToFileURL(`${process.env.WEIR_REAL_MODULES}/`).href;

registerHooks({
  resolve(specifier, context, next) {
    const bare = !/^(\.|\/|node:|file:)/.test(specifier);
    if (bare && context.parentURL?.startsWith(ours)) {
      return next(specifier, { ...context, parentURL: cache });
    }
    return next(specifier, context);
  },
});
