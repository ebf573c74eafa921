import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryParent } from '../../tooling/processes/temporary-parent.js';
import { anEmptyDatabase, type Database, type DatabaseOptions, existingDatabase } from './database.js';
import { Secrets } from './secrets.js';
import { aSigningKey, keysFileIn, readKeys, type SigningKey, writeKeys } from './signing-keys.js';

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

export interface InstallationPlace {
  directory: string;
  databaseUrl: string;
}

/** Failed tests leave theirs until their file ends. */
const present = new Set<Installation>();

/** The ways into shared databases, by URL: this process keeps them. */
const databases = new Map<string, Database>();

interface InstallationOptions extends DatabaseOptions {
  /** an empty one, which it may remove */
  directory?: string;
}

export async function anInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const installation = await newInstallation(options);
  present.add(installation);
  return installation;
}

export async function removeLeftInstallations(): Promise<void> {
  // The server of its database may be gone.
  for (const installation of present) await installation.remove().catch(() => undefined);
}

/** One that stays for other files. */
export async function aSharedInstallation(): Promise<InstallationPlace> {
  const { directory, db } = await newInstallation({});
  databases.set(db.url, db);
  return { directory, databaseUrl: db.url };
}

/** What one file does with a shared installation: it looks, it changes rows of its own, it leaves the rest. */
export async function installationAt({ directory, databaseUrl }: InstallationPlace): Promise<Installation> {
  const db = databases.get(databaseUrl) ?? existingDatabase(directory, databaseUrl);
  databases.set(databaseUrl, db);
  const installation = installationIn(directory, db);
  noteKeys(installation, await readKeys(directory));
  const refuse = () => Promise.reject(new Error('This installation is shared: use startOwnService()'));
  return Object.assign(installation, { writeKeys: refuse, remove: refuse });
}

async function newInstallation(options: InstallationOptions): Promise<Installation> {
  const directory = options.directory ?? (await mkdtemp(join(temporaryParent(), 'accounts-test-')));
  const installation = installationIn(directory, await anEmptyDatabase(directory, options));
  await installation.writeKeys([aSigningKey()]);
  return installation;
}

function installationIn(directory: string, db: Database): Installation {
  const installation: Installation = {
    directory,
    db,
    keys: [],
    secrets: new Secrets(),
    env: { DATABASE_URL: db.url, JWT_KEYS_FILE: keysFileIn(directory) },
    writeKeys: async (keys) => {
      noteKeys(installation, keys);
      await writeKeys(directory, keys);
    },
    remove: async () => {
      present.delete(installation);
      await rm(directory, { recursive: true, force: true });
      await db.drop();
    },
  };
  return installation;
}

function noteKeys(installation: Installation, keys: SigningKey[]): void {
  installation.keys = keys;
  for (const { jwk } of keys) installation.secrets.note(jwk['d']);
}
