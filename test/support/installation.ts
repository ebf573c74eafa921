import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anEmptyDatabase, type Database } from './database.js';
import { Secrets } from './secrets.js';
import { aSigningKey, type SigningKey } from './signing-keys.js';

/** What outlives a process of the service: its directory, its database and its signing keys. */
export interface Installation {
  directory: string;
  db: Database;
  /** the first one signs */
  keys: SigningKey[];
  secrets: Secrets;
  env: Record<string, string>;
  writeKeys(keys: SigningKey[]): Promise<void>;
  remove(): Promise<void>;
}

export async function anInstallation(options: { mariadbPort?: number } = {}): Promise<Installation> {
  const directory = await mkdtemp(join(tmpdir(), 'accounts-test-'));
  const keysFile = join(directory, 'jwks.json');
  const db = await anEmptyDatabase(directory, options.mariadbPort);
  const installation: Installation = {
    directory,
    db,
    keys: [],
    secrets: new Secrets(),
    env: { DATABASE_URL: db.url, JWT_KEYS_FILE: keysFile },
    writeKeys: async (keys) => {
      installation.keys = keys;
      for (const { jwk } of keys) installation.secrets.note(jwk['d']);
      await writeFile(keysFile, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }), { mode: 0o600 });
    },
    remove: async () => {
      await db.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
  await installation.writeKeys([aSigningKey()]);
  return installation;
}
