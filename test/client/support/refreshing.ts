// A process that shares a login with others: node refreshing.ts URL FILE, and `hang` to stop before it stores the new token.
import { fileStore } from '../../../client/src/file-store.ts';
import { createClient, type TokenStore } from '../../../client/src/index.ts';

const [, , baseUrl = '', file = '', how] = process.argv;
const onDisk = fileStore(file);
const store: TokenStore = how === 'hang' ? { ...onDisk, save: hang } : onDisk;
// On a busy machine the processes wait long for the lock.
const client = createClient({ baseUrl, store, timeoutMs: 300_000 });

function hang(): Promise<void> {
  console.log('has not stored');
  return new Promise(() => setInterval(() => undefined, 1000));
}

const me = await client.getMe();
console.log(me.ok ? 'logged in' : me.problem.code);
