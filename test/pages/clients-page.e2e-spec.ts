import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Client, DataOf, Result } from '../../client/src/index.ts';
import { accountsJson } from '../support/accounts-command.js';
import { anInstallation } from '../support/installation.js';
import { MailServer } from '../support/mail-server.js';
import { startOwnService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import { run, snippetsOf, typeErrors } from './support/page-program.js';
import { PageReader } from './support/page-reader.js';

const PAGE = snippetsOf('docs/clients.md');
const OF_SHELLS = PAGE.filter((snippet) => /from '(?:electron|@tauri-apps)/.test(snippet));
const DECLARED = `declare function ask(question: string): Promise<string>;
  declare function showQrCode(uri: string, secret: string): Promise<void>;
  declare const [serviceSecret, configDirectory]: [string, string];`;
const SHELL_TYPES = `import ${JSON.stringify(resolve(import.meta.dirname, 'support/desktop-shells.d.ts'))};`;
const RESULTS = [
  'account',
  'candidates',
  'client',
  'exported',
  'first',
  'givenUp',
  'grace',
  'isLoggedIn',
  'joan',
  'joined',
  'late',
  'left',
  'mary',
  'me',
  'message',
  'names',
  'old',
  'passedOn',
  'protectedLogin',
  'quick',
  'recoveryCodes',
  'registered',
  'repeated',
  'second',
  'storeIn',
  'user',
  'wouldWork',
];
const PROGRAM = [
  DECLARED,
  ...PAGE.filter((snippet) => !OF_SHELLS.includes(snippet)),
  `export { ${RESULTS.join(', ')} };`,
].join('\n');

type Any = Result<unknown, { code: string }>;
interface Results extends Record<
  'first' | 'givenUp' | 'late' | 'left' | 'me' | 'quick' | 'registered' | 'second',
  Any
> {
  account: DataOf<'getAccount'>;
  candidates: { email: string }[];
  client: Client;
  exported: DataOf<'exportOwnData'>;
  grace: Client;
  isLoggedIn: boolean;
  joan: Client;
  joined: DataOf<'acceptInvitationByCode'>;
  mary: Client;
  message: string;
  names: string[];
  old: unknown[];
  passedOn: { token: string };
  protectedLogin: { token: string };
  recoveryCodes: string[];
  repeated: { replayed: boolean };
  user: { id: string; email: string };
  wouldWork: boolean;
}

const mailServer = await MailServer.start();
const installation = await anInstallation();
const service = await startOwnService({ installation, env: mailServer.env });
const configDirectory = join(installation.directory, 'config');
await mkdir(configDirectory);
const [billing] = await accountsJson<{ secret: string }>(installation, ['services', 'add', 'billing']);
const { ask, showQrCode } = new PageReader(mailServer, 'joan@example.com', 'mary@example.com');
Object.assign(globalThis, { ask, showQrCode, configDirectory, serviceSecret: billing!.secret });
afterAll(async () => {
  for (const name of ['ask', 'showQrCode', 'configDirectory', 'serviceSecret'])
    Reflect.deleteProperty(globalThis, name);
  await service.stop();
  await installation.remove();
  await mailServer.stop();
});

describe('docs/clients.md', () => {
  it('compiles under strict rules', async () => {
    const [electron, tauri] = OF_SHELLS.map((snippet) => `${SHELL_TYPES}\n${snippet}`);

    expect(OF_SHELLS).toHaveLength(2);
    expect(
      await typeErrors(installation.directory, {
        'clients-page.ts': PROGRAM,
        'electron.ts': electron!,
        'tauri.ts': tauri!,
      }),
    ).toEqual([]);
  });

  it('goes through the life of a login', async () => {
    const text = PROGRAM.replace(/(?<=const baseUrl = ')[^']+/, service.url);
    const results = (await run(join(installation.directory, 'clients-page.mjs'), text)) as Results;
    const { user, client, grace } = results;

    expect(results.registered).toMatchObject({ ok: true, data: { user } });
    expect(results.me).toMatchObject({ data: { user: { ...user, emailVerified: false }, orgs: [] } });
    expect(results.message).toBe('The email or the password is wrong.');
    expect(results.quick.ok).toBe(true);
    expect(results.givenUp).toMatchObject({ problem: { code: 'aborted' } });
    expect([results.first, results.isLoggedIn]).toEqual([results.second, true]);
    expect(decodeToken(results.passedOn.token).claims).toMatchObject({ sub: user.id, aud: 'billing' });
    expect(results.account.emailVerified).toBe(true);
    expect(results.old).toHaveLength(1);
    expect(results.joined).toMatchObject({ org: { name: 'Engines' }, role: 'member' });
    for (const { getAccount } of [results.joan, results.mary])
      expect(await getAccount()).toMatchObject({ data: { emailVerified: true } });
    expect(results.recoveryCodes).toHaveLength(10);
    expect(decodeToken(results.protectedLogin.token).claims['amr']).toEqual(['pwd', 'otp']);
    expect(results.repeated.replayed).toBe(true);
    expect(results.late).toMatchObject({ problem: { code: 'precondition_failed' } });
    expect([results.wouldWork, results.candidates]).toMatchObject([true, [{ email: 'grace@example.com' }]]);
    expect(results.names.toSorted()).toEqual(['countess@example.com', 'grace@example.com']);
    expect(results.exported).toMatchObject({ account: { id: user.id } });
    expect(await grace.getMe()).toMatchObject({
      data: { orgs: [{ name: 'Engines' }, { name: 'Power looms' }] },
    });
    expect(await client.isLoggedIn()).toBe(false);
    expect(await client.login({ email: 'countess@example.com', password: 'any' })).toMatchObject({
      problem: { code: 'invalid_credentials' },
    });
  });
});
