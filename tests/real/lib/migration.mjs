// Moves an account to another PDS by the documented calls.
import { xrpc } from './xrpc.mjs';

const server = 'com.atproto.server';
const repo = 'com.atproto.repo';
const sync = 'com.atproto.sync';
const identity = 'com.atproto.identity';

/**
 * Moves `account` to `host`. `beforeLeaving` runs once the account is active on
 * its new host and still open on the old one; it gets the account as the old
 * host knows it.
 */
export async function migrate(account, host, beforeLeaving) {
  const old = account.clone();
  await openThere(account, old, host);
  await carryOver(account, old);
  await changeIdentity(account, old);
  await account.call(`${server}.activateAccount`, { post: true });
  await beforeLeaving(old);
  await old.call(`${server}.deactivateAccount`, { input: {} });
}

async function openThere(account, old, host) {
  const nsid = `${server}.createAccount`;
  const params = { aud: host.did, lxm: nsid };
  const { token } = await old.call(`${server}.getServiceAuth`, { params });
  const { did, handle, email, password } = account;
  const session = await xrpc(host.url, nsid, {
    input: { did, handle, email, password },
    auth: `Bearer ${token}`,
  });
  account.host = host;
  account.token = session.accessJwt;
}

async function carryOver(account, old) {
  const params = { did: account.did };
  const bytes = await old.call(`${sync}.getRepo`, { params });
  const type = 'application/vnd.ipld.car';
  await account.call(`${repo}.importRepo`, { bytes, type });
  const { blobs } = await account.call(`${repo}.listMissingBlobs`);
  for (const { cid } of blobs) {
    const blob = await old.call(`${sync}.getBlob`, {
      params: { did: account.did, cid },
    });
    await account.call(`${repo}.uploadBlob`, {
      bytes: blob,
      type: 'application/octet-stream',
    });
  }
}

async function changeIdentity(account, old) {
  const wanted = await account.call(
    `${identity}.getRecommendedDidCredentials`,
  );
  await old.call(`${identity}.requestPlcOperationSignature`, { post: true });
  const token = old.host.mailed(account.email);
  const { operation } = await old.call(`${identity}.signPlcOperation`, {
    input: { ...wanted, token },
  });
  await account.call(`${identity}.submitPlcOperation`, {
    input: { operation },
  });
}
