// One XRPC call, and the error a server answered.

/** Marks our own requests, so that hosts count only the engine's. */
export const ourAgent = 'real-test';

export class XrpcError extends Error {
  constructor(nsid, status, body) {
    super(`${nsid}: ${status} ${body?.error ?? ''} ${body?.message ?? ''}`);
    this.status = status;
    this.error = body?.error;
  }
}

/**
 * Calls `nsid` at `base`. A procedure (POST) when `input` or `bytes` is given
 * or `post` is set, else a query. Returns JSON, or bytes when the answer is
 * not JSON.
 */
export async function xrpc(base, nsid, options = {}) {
  const { params = {}, input, bytes, type, auth, post } = options;
  const url = new URL(`/xrpc/${nsid}`, base);
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  const headers = { 'user-agent': ourAgent };
  if (auth) headers.authorization = auth;
  if (input) headers['content-type'] = 'application/json';
  if (bytes) headers['content-type'] = type;
  const answer = await fetch(url, {
    method: post || input || bytes ? 'POST' : 'GET',
    headers,
    body: input ? JSON.stringify(input) : bytes,
  });
  const json = answer.headers.get('content-type')?.includes('json');
  if (!answer.ok) {
    throw new XrpcError(nsid, answer.status, json ? await answer.json() : null);
  }
  if (json) return answer.json();
  return new Uint8Array(await answer.arrayBuffer());
}
