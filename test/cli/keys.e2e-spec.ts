import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { KeyRing, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import { EncryptedSecrets, type SecretPurpose } from '../../src/auth/tokens/derived-keys.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts, accountsJson, failure, spawnAccounts } from '../support/accounts-command.js';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { invalidRefreshToken, invalidToken } from '../support/expected.js';
import { type Account, anAccount } from '../support/personas.js';
import { aRefreshableLogin, partsOf, refresh, refreshed } from '../support/refreshing.js';
import { insertRow } from '../support/rows.js';
import { startOwnService } from '../support/service.js';
import { aSigningKey, decodeToken, type Jwk, keysFileIn, replaceKeysFile } from '../support/signing-keys.js';

type Key = ReturnType<typeof aSigningKey>;

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const REFRESHABLE = expect.stringMatching(/^a refresh token that it made may be used until /) as string;
const seconds = () => Math.floor(Date.now() / 1000);

const service = await startOwnService();
const { installation } = service;
const file = keysFileIn(installation.directory);
afterAll(() => service.stop());

const keysJson = (...parameters: string[]) =>
  accountsJson<{ kid: string; signsFrom: string; removed: boolean }>(installation, ['keys', ...parameters]);
const inFile = async () =>
  (JSON.parse(await readFile(file, 'utf8')) as { keys: (Jwk & { nbf?: number })[] }).keys;
const kidOf = ({ token }: Account) => decodeToken(token).header['kid'];
async function published(): Promise<string[]> {
  const { body } = await service.anyone.get<{ keys: { kid: string }[] }>('/.well-known/jwks.json');
  return body.keys.map(({ kid }) => kid);
}
const until = (what: string, probe: () => boolean | Promise<boolean>) =>
  waitFor(what, hangTimeoutMs(), probe);
const untilPublished = (kids: string[]) =>
  until(`the service publishes ${kids.length}`, async () => String(await published()) === String(kids));
const untilSigning = (kid: string) =>
  until('the new key signs', async () => kidOf(await anAccount(service)) === kid);

let first: string;
beforeEach(async () => {
  await installation.writeKeys([aSigningKey()]);
  first = installation.keys[0]!.kid;
  await untilPublished([first]);
});

describe.runIf(engine === 'sqlite')('accounts keys', () => {
  it('says which file it looked for in another directory, and the variable that names it', async () => {
    const env = { JWT_KEYS_FILE: './elsewhere/jwks.json' };
    expect(await accounts(installation, ['keys', 'list'], { env })).toEqual(
      failure(2, /^JWT_KEYS_FILE: there is no file \/.*\/elsewhere\/jwks\.json\n$/),
    );
  });

  it('create makes a private file with one key, and refuses one that exists', async () => {
    const env = { NODE_ENV: 'production', JWT_KEYS_FILE: './created/jwks.json' };
    const created = `${installation.directory}/created/jwks.json`;
    const results = await Promise.all(times(4, () => accounts(installation, ['keys', 'create'], { env })));

    const refusal = failure(2, `error: ${created} already exists: add a key with accounts keys rotate\n`);
    expect(results.filter(({ code }) => code !== 0)).toEqual(Array(3).fill(refusal));
    const { keys } = JSON.parse(await readFile(created, 'utf8')) as { keys: Jwk[] };
    expect(results.find(({ code }) => code === 0)?.stdout).toBe(
      `created ${created} with key ${keys[0]!.kid}\n` +
        'Copy the file to every machine, and back it up with the database.\n',
    );
    expect((await stat(created)).mode & 0o777).toBe(0o600);
    const listed = await accountsJson(installation, ['keys', 'list'], { env });
    expect(listed).toEqual([expect.objectContaining({ kid: keys[0]!.kid, state: 'signing' })]);
  });

  it('rotate adds a key that is published at once and signs 10 minutes later, while the others verify', async () => {
    const [added] = await keysJson('rotate');

    const inMinutes = (Date.parse(added!.signsFrom) - Date.now()) / 60_000;
    expect(inMinutes).toBeGreaterThan(8);
    expect(inMinutes).toBeLessThanOrEqual(10);
    expect(await keysJson('list')).toEqual([
      expect.objectContaining({ kid: added!.kid, state: 'next', signsFrom: added!.signsFrom }),
      { kid: first, state: 'signing' },
    ]);
    await untilPublished([added!.kid, first]);
    const ada = await anAccount(service, 'ada');
    expect(kidOf(ada)).toBe(first);

    // As if ten minutes had passed.
    const [key, ...others] = await inFile();
    await writeFile(file, JSON.stringify({ keys: [{ ...key, nbf: seconds() + 2 }, ...others] }));

    await untilSigning(added!.kid);
    expect((await (await anAccount(service)).get('/api/me')).status).toBe(200);
    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it('rotate --now signs at once; prune --now ends the tokens of the other keys', async () => {
    const ada = await anAccount(service, 'ada');
    expect((await ada.get('/api/me')).status).toBe(200);

    const [added] = await keysJson('rotate', '--now');
    await untilPublished([added!.kid, first]);
    const grace = await anAccount(service, 'grace');
    expect(kidOf(grace)).toBe(added!.kid);
    expect((await ada.get('/api/me')).status).toBe(200);

    expect(await keysJson('prune', '--now')).toEqual([
      { kid: added!.kid, removed: false, kept: 'it signs', machines: [] },
      { kid: first, removed: true, machines: [] },
    ]);
    await untilPublished([added!.kid]);
    expect(await ada.get('/api/me')).toMatchObject(invalidToken);
    expect((await grace.get('/api/me')).status).toBe(200);
  });

  it('a file that became wrong is an error in the log once, and the keys in use stay', async () => {
    const ada = await anAccount(service, 'ada');
    const known = service.logs.length;
    const logged = (text: string) => service.logs.slice(known).filter((line) => line.includes(text));
    const complaints = () => logged('signing keys could not be read again');

    await replaceKeysFile(installation.directory, '{ "keys": [');
    await until('the log says so', () => complaints().length > 0);

    expect((await ada.get('/api/me')).status).toBe(200);
    expect((await anAccount(service)).token).toBeTruthy();
    expect(await accounts(installation, ['keys', 'rotate'])).toEqual(
      failure(2, 'JWT_KEYS_FILE: the file is not JSON\n'),
    );

    await installation.writeKeys([aSigningKey(), ...installation.keys]);
    await until('the keys are read again', () => logged('signing keys read again').length > 0);
    expect(complaints()).toHaveLength(1);
    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it('of commands at the same time each adds its key or says that another is at work, to a private file', async () => {
    await chmod(file, 0o640);
    const results = await Promise.all(times(6, () => accounts(installation, ['keys', 'rotate'])));
    const done = results.filter(({ code }) => code === 0);
    expect(done.length).toBeGreaterThan(0);
    expect(await inFile()).toHaveLength(1 + done.length);
    for (const result of results.filter(({ code }) => code !== 0))
      expect(result).toEqual(failure(2, /^JWT_KEYS_FILE: another command is changing [^\n]+\n$/));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const beside = (await readdir(installation.directory)).filter((name) => name.startsWith('jwks.json'));
    expect(beside.toSorted()).toEqual(['jwks.json', 'jwks.json.lock']);
  });

  it('a command that is killed leaves the old keys or the new ones', async () => {
    for (let round = 0; round < 6; round += 1) {
      const before = await inFile();
      const command = spawnAccounts(installation, ['keys', 'rotate']);
      const ended = once(command, 'close');
      const hasBegun = async () =>
        command.exitCode !== null ||
        (await readdir(installation.directory)).includes('jwks.json.new') ||
        (await inFile()).length > before.length;
      await waitFor('it has the lock or has ended', hangTimeoutMs(), hasBegun, round);
      command.kill('SIGKILL');
      await ended;

      const after = await inFile();
      expect(after.slice(after.length - before.length)).toEqual(before);
      expect(after.length - before.length).toBeLessThanOrEqual(1);
    }
    await keysJson('rotate');
  });
});

describe('accounts keys, where the database decides', () => {
  it('prune keeps a key while a token that it signed may be alive, and one that instances may still sign with', async () => {
    await anAccount(service);
    const [old, idle, recent, signing, next] = [1, 2, 3, 4, 5].map(aSigningKey) as [Key, Key, Key, Key, Key];
    const at = ({ jwk }: { jwk: Jwk }, nbf: number) => ({ ...jwk, nbf });
    const keys = [
      at(next, seconds() + HOUR_S),
      at(signing, seconds() - 5),
      at(recent, seconds() - 2 * DAY_S),
      at(idle, seconds() - 31 * DAY_S),
      at(old, 0),
    ];
    await writeFile(file, JSON.stringify({ keys }));
    await installation.db.query('UPDATE sessions SET created_at = ?', [Date.now() - 32 * DAY_S * 1000]);
    const prune = () => keysJson('prune');

    expect(await prune()).toEqual([
      { kid: next.kid, removed: false, kept: 'it will sign' },
      { kid: signing.kid, removed: false, kept: 'it signs' },
      { kid: recent.kid, removed: false, kept: expect.stringMatching(/^instances may sign with it until /) },
      { kid: idle.kid, removed: false, kept: REFRESHABLE },
      {
        kid: old.kid,
        removed: false,
        kept: expect.stringMatching(/^an access token that it signed may be valid until /),
      },
    ]);
    expect(await inFile()).toEqual(keys);

    const expire = (secondsAgo: number) =>
      installation.db.query('UPDATE sessions SET expires_at = ?', [Date.now() - secondsAgo * 1000]);
    // Verifiers tolerate that their clocks are 30 seconds behind.
    await expire(1);
    expect((await prune()).map(({ removed }) => removed)).toEqual([false, false, false, false, false]);
    await expire(31);
    // It lives, but all its tokens were signed later: each refresh signs a new one.
    await installation.db.query(
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at, refresh_generation, rotated_at)
        SELECT ?, user_id, auth_time, created_at, ?, 2, ? FROM sessions LIMIT 1`,
      [randomUUIDv7(), Date.now() + DAY_S * 1000, Date.now()],
    );
    expect((await prune()).map(({ removed }) => removed)).toEqual([false, false, false, false, true]);
    expect((await inFile()).map(({ kid }) => kid)).toEqual([next.kid, signing.kid, recent.kid, idle.kid]);
  });

  it('rotated and pruned by the book they never refuse a refresh token', async () => {
    const ada = await anAccount(service, 'ada');
    let { refreshToken } = await aRefreshableLogin(service, ada);
    const [added] = await keysJson('rotate');
    await untilPublished([added!.kid, first]);
    ({ refreshToken } = await refreshed(service, refreshToken));
    const signedSince = async (nbf: number): Promise<void> => {
      const [key, ...others] = await inFile();
      await writeFile(file, JSON.stringify({ keys: [{ ...key, nbf }, ...others] }));
    };

    await signedSince(seconds() - 600);
    await untilSigning(added!.kid);
    const made = refreshToken;
    ({ refreshToken } = await refreshed(service, made));
    expect(partsOf((await refreshed(service, made)).refreshToken)).toEqual(partsOf(refreshToken));

    expect(await keysJson('prune')).toContainEqual({ kid: first, removed: false, kept: REFRESHABLE });
    await signedSince(seconds() - 31 * DAY_S);
    expect(await keysJson('prune')).toContainEqual({ kid: first, removed: true, machines: [] });
    await untilPublished([added!.kid]);
    expect((await refresh(service, refreshToken)).status).toBe(200);
    expect(await refresh(service, made)).toMatchObject(invalidRefreshToken);
  });

  it('prune seals anew what the keys have sealed, and loses nothing where it is killed', async () => {
    const owners = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const late = await anAccount(service, 'late');
    const secretOf = ({ id }: Account) => Buffer.from(id.slice(-20));
    const secretsWith = (keys: unknown[], purpose: SecretPurpose = 'second factor secrets') =>
      new EncryptedSecrets(new KeyRing(readKeySet(JSON.stringify({ keys }))), purpose);
    const old = secretsWith(await inFile());
    const ofProvider = secretsWith(await inFile(), 'provider secrets').encrypt(Buffer.from('acme'), 'acme');
    await insertRow(installation.db, 'providers', { id: 'acme', secret: ofProvider });
    const store = (account: Account) => {
      const secret = old.encrypt(secretOf(account), account.id);
      return insertRow(installation.db, 'second_factors', { user_id: account.id, secret, enabled_at: 1 });
    };
    const opened = async () => {
      const secrets = secretsWith(await inFile());
      const rows = await installation.db.query('SELECT user_id AS id, secret FROM second_factors');
      return new Map(rows.map(({ id, secret }) => [id, secrets.decrypt(String(secret), String(id))]));
    };
    for (const owner of owners) await store(owner);
    const [added] = await keysJson('rotate', '--now');

    const interrupted = pruneAtOnce();
    await interrupted.untilHandover();
    interrupted.command.kill('SIGKILL');
    await interrupted.ended;
    expect((await inFile()).map(({ kid }) => kid)).toEqual([added!.kid, first]);
    const all = owners.map((owner) => [owner.id, secretOf(owner)] as const);
    expect(await opened()).toEqual(new Map(all));

    const again = pruneAtOnce();
    await again.untilHandover();
    // An instance that has not read the new key yet.
    await store(late);
    expect(await again.ended).toEqual([0, null]);

    expect((await inFile()).map(({ kid }) => kid)).toEqual([added!.kid]);
    expect(await opened()).toEqual(new Map([...all, [late.id, secretOf(late)]]));
    const [provider] = await installation.db.query("SELECT secret FROM providers WHERE id = 'acme'");
    const secrets = secretsWith(await inFile(), 'provider secrets');
    expect(secrets.decrypt(String(provider!['secret']), 'acme')?.toString()).toBe('acme');
    for (const table of ['second_factors', 'providers']) await installation.db.query(`DELETE FROM ${table}`);
  });

  function pruneAtOnce() {
    const command = spawnAccounts(installation, ['keys', 'prune', '--now']);
    const ended = once(command, 'close');
    let said = '';
    command.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const untilHandover = () => until('it waits for the instances', () => said.includes('waiting 10 s'));
    return { command, ended, untilHandover };
  }
});
