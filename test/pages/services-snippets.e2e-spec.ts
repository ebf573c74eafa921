import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../client/src/free-port.ts';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anInstallation } from '../support/installation.js';
import { type Account, anAccount, anOrg, type Cast, join as addMember } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { aBoundToken, aServiceCaller, setCall, type ServiceCaller } from '../support/services.js';
import { decodeToken } from '../support/signing-keys.js';
import { expectPrinted, outputOf } from './support/outputs.js';

const PAGE = ['services', 'services-calls']
  .map((page) => readFileSync(resolve(`docs/${page}.md`), 'utf8'))
  .join('\n');
const HEADINGS = {
  Express: 'Guard an Express route',
  'Express 4': 'Guard an Express route',
  Fastify: 'Guard a Fastify route',
  Nest: 'Guard a Nest route',
  node: 'Guard a route of another framework',
};
type Framework = keyof typeof HEADINGS;
const FRAMEWORKS = Object.keys(HEADINGS) as Framework[];
/** `node` reads the path itself. */
const WITH_PARAMETERS = FRAMEWORKS.filter((framework) => framework !== 'node');
const DECORATORS = { experimentalDecorators: true, emitDecoratorMetadata: true };
const COMPILER = { ...DECORATORS, target: ts.ScriptTarget.ES2022 };

interface GuardSnippet {
  guard?: { close(): Promise<void> };
  app?:
    | RequestListener
    | Server
    | { listen(options: { port: number }): Promise<string>; close(): Promise<void> };
  AppModule?: Type;
}

const installation = await anInstallation();
const port = await freePort();
const env = { PORT: String(port), JWT_ISSUER: `http://127.0.0.1:${port}` };
const service = await startOwnService({ installation, env });
symlinkSync(resolve('node_modules'), join(installation.directory, 'node_modules'));
/** last first */
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
  await service.stop();
  await installation.remove();
});

const serve = (app: RequestListener): Promise<string> => listen(createServer(app));

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  ends.unshift(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a guard of the pages for services', () => {
  let cast: Cast;
  let billing: ServiceCaller;

  beforeAll(async () => {
    cast = await anOrg(service);
    billing = await aServiceCaller(service, 'introspect', 'memberships', 'events');
    installClient(installation.directory);
  });

  /** The package as it is built, beside everything else that is installed. */
  function installClient(directory: string): void {
    const built = join(directory, 'client');
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const options = ['--project', 'client/tsconfig.build.json', '--outDir', join(built, 'dist')];
    execFileSync(process.execPath, [tsc, ...options]);
    cpSync('client/package.json', join(built, 'package.json'));
    mkdirSync(join(directory, 'guards/node_modules'), { recursive: true });
    symlinkSync(built, join(directory, 'guards/node_modules/accounts-client'));
  }

  const underHeading = (heading: string): string[] => {
    const chapter = new RegExp(`^##+ ${heading}.*?(?=^## )`, 'ms').exec(PAGE)![0];
    return [...chapter.matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, snippet]) => snippet!);
  };

  function runSnippet<Exports>(text: string): Promise<Exports> {
    const file = join(installation.directory, `guards/${crypto.randomUUID()}.mjs`);
    writeFileSync(file, ts.transpileModule(text, { compilerOptions: COMPILER }).outputText);
    return import(pathToFileURL(file).href) as Promise<Exports>;
  }

  const configured = (text: string, secret = billing.secret): string =>
    text
      .replace('https://accounts.example.com', service.url)
      .replaceAll("'billing'", `'${billing.name}'`)
      .replace(/process\.env.*?(?= })/, `'${secret}'`);

  /** @returns where the routes of the snippet are */
  async function start(
    framework: Framework,
    edit = (text: string): string => text,
    secret?: string,
  ): Promise<string> {
    const text = configured(edit(underHeading(HEADINGS[framework])[0]!), secret).replace(
      "from 'express'",
      framework === 'Express 4' ? "from 'express4'" : "from 'express'",
    );
    const exported = framework === 'Nest' ? '' : '\nexport { guard };\n';
    const { guard, app, AppModule } = await runSnippet<GuardSnippet>(text + exported);
    ends.push(() => guard?.close());
    if (AppModule) return startNest(AppModule);
    if (app instanceof Server) return listen(app);
    if (typeof app === 'function') return serve(app);
    ends.unshift(() => app!.close());
    return app!.listen({ port: 0 });
  }

  async function startNest(module: Type): Promise<string> {
    const app = await NestFactory.create(module, new FastifyAdapter(), { logger: false });
    ends.unshift(() => app.close());
    await app.listen(0, '127.0.0.1');
    return app.getUrl();
  }

  it.each(FRAMEWORKS)('in %s lets members with the role in, until they are removed', async (framework) => {
    const url = `${await start(framework)}/orgs/${cast.org.id}/invoices`;
    const ask = (authorization?: string) => fetch(url, { headers: authorization ? { authorization } : {} });
    const tokenOf = async (account: Account) => `Bearer ${await aBoundToken(billing, account)}`;
    const another = await anAccount(service);
    await addMember(cast.org, cast.owner, another, 'admin');
    const token = await tokenOf(another);

    const welcome = await ask(token);
    expect([welcome.status, await welcome.json()]).toEqual([200, { userId: another.id }]);
    const refused = await ask(await tokenOf(cast.member));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect(await refused.json()).toMatchObject({ code: 'insufficient_role' });
    const unknown = await ask();
    expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);

    expect((await cast.owner.delete(`/api/orgs/${cast.org.id}/members/${another.id}`)).status).toBe(200);
    await waitFor('the guard has heard', hangTimeoutMs(), async () => (await ask(token)).status === 403);
  });

  it.each(WITH_PARAMETERS)(
    'in %s answers 500, and goes on, where the route has no orgId',
    async (framework) => {
      const url = await start(framework, (text) => text.replaceAll(':orgId', ':org'));
      for (let time = 0; time < 2; time += 1) {
        expect((await fetch(`${url}/orgs/${cast.org.id}/invoices`)).status).toBe(500);
      }
    },
  );

  it('asks for another login, and waits for a revision, as the page says', async () => {
    const [stepUp] = underHeading('Require a recent or stronger login');
    const [atLeast] = underHeading('Never miss a client');
    const [logOut] = underHeading('Revoke a session at logout');
    const url = await start('Express', (text) => {
      const deleteOrg = 'const deleteOrg = (request, response) => response.json(true);';
      const read = atLeast!.replace(/^import.*$/m, '').replace(/^(?=const)/gm, '    ');
      return `import { revisionOf } from 'accounts-client/service';\n${text}\n${deleteOrg}\n${stepUp}\n${logOut}
        app.get('/read/:orgId', async (request, response) => {
          const { orgId } = request.params;
          ${read}
          response.json([atLeast, answer.ok]);
        });`;
    });
    const authorization = `Bearer ${await aBoundToken(billing, cast.owner)}`;
    const path = `/orgs/${cast.org.id}`;
    const refused = await fetch(url + path, { method: 'DELETE', headers: { authorization } });
    expect(refused.status).toBe(401);
    const head = `HTTP/1.1 ${refused.status} ${refused.statusText}`;
    const challenge = `WWW-Authenticate: ${refused.headers.get('www-authenticate')}`;
    const printed = `${head}\n${challenge}\n\n${await refused.text()}`;
    expectPrinted(printed, outputOf('docs/services.md', 'HTTP/1.1 401'));
    const headers = { authorization, 'accounts-revision': `${cast.org.id}=1` };
    expect(await (await fetch(`${url}/read/${cast.org.id}`, { headers })).json()).toEqual([1, true]);

    const logOuts = [];
    for (let time = 0; time < 2; time += 1)
      logOuts.push((await fetch(`${url}/logout`, { method: 'POST', headers })).status);
    expect(logOuts).toEqual([204, 401]);
  });

  it('calls another service for a user and for itself, as the page says, also in Nest', async () => {
    const ledger = await aServiceCaller(service, 'introspect', 'memberships', 'events');
    await setCall(service.db, billing, ledger);
    const [caller, called] = underHeading('Call another service');
    const asLedger = (text: string): string =>
      text
        .replaceAll("name: 'billing'", `name: '${ledger.name}'`)
        .replace("audience: 'billing'", `audience: '${ledger.name}'`);
    const imports = "import { requireService, serviceOf } from 'accounts-client/express';";
    const ledgerUrl = await start(
      'Express',
      (text) => `${imports}\n${asLedger(text)}\n${called}`,
      ledger.secret,
    );
    const nestUrl = await start(
      'Nest',
      (text) =>
        asLedger(text)
          .replace('Controller, Get, Module', 'Controller, Get, Module, Req')
          .replace('AccountsModule, Admitted', 'AccountsModule, Admitted, RequireService, serviceOf')
          .replace(
            /\n\}\n/,
            `
        @Get('closings')
        @RequireService('billing')
        close(@Req() request: object) {
          return { closedBy: serviceOf(request).name };
        }
      }
      `,
          ),
      ledger.secret,
    );
    const url = await start(
      'Express',
      (text) => `${text}\nconst ledger = '${ledgerUrl}';
      ${caller!.replace("'ledger'", `'${ledger.name}'`).replace("'ledger'", `'${ledger.name}'`)}
      app.get('/own', (request, response) => response.json(own));`,
    );
    const { owner, org } = cast;
    const headers = { authorization: `Bearer ${await aBoundToken(billing, owner)}` };

    const booked = await fetch(`${url}/orgs/${org.id}/invoices`, { method: 'POST', headers });
    expect([booked.status, await booked.json()]).toEqual([200, { userId: owner.id, via: [billing.name] }]);
    const own = (await (await fetch(`${url}/own`)).json()) as { token: string };
    const asItself = { authorization: `Bearer ${own.token}` };
    const closed = { closedBy: billing.name };
    expect(
      await (await fetch(`${ledgerUrl}/closings`, { method: 'POST', headers: asItself })).json(),
    ).toEqual(closed);
    const inNest = `${nestUrl}/orgs/${org.id}/invoices/closings`;
    expect(await (await fetch(inNest, { headers: asItself })).json()).toEqual(closed);
    for (const path of [`${ledgerUrl}/orgs/${org.id}/entries`, `${ledgerUrl}/closings`])
      expect((await fetch(path, { method: 'POST', headers })).status).toBe(401);
    const entries = await fetch(`${ledgerUrl}/orgs/${org.id}/entries`, { method: 'POST', headers: asItself });
    expect([entries.status, await entries.json()]).toMatchObject([403, { code: 'caller_not_allowed' }]);
  });

  it('keeps names and connections by events', async () => {
    const [hooks] = underHeading('Keep state by events');
    const imports = "import { createGuard } from 'accounts-client/service';\nconst credentials = ";
    const credentials = JSON.stringify({ name: billing.name, secret: billing.secret });
    const { guard, names, connections } = await runSnippet<{
      guard: { ready(): Promise<void>; close(): Promise<void> };
      names: Map<string, string>;
      connections: Map<string, { close(): void }>;
    }>(`${imports}${credentials};\n${configured(hooks!)}\nexport { guard, names, connections };`);
    ends.push(() => guard.close());
    names.set('before', 'the start');
    await guard.ready();
    expect(names.size).toBe(0);

    const user = await anAccount(service);
    names.set(user.id, 'Ada');
    const close = vi.fn<() => void>();
    connections.set(String(decodeToken(user.token).claims['sid']), { close });
    await user.patch('/api/me/profile', { name: 'Ada Lovelace' });
    await user.post('/api/auth/logout', {});
    await waitFor('the connection is closed', hangTimeoutMs(), () => close.mock.calls.length === 1);
    expect(names.size).toBe(0);
  });

  it('has a test of a service, without Accounts and with one', async () => {
    const [alone, emitting, withAccounts] = underHeading('Test your service');
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    await runSnippet(alone!);
    await runSnippet(emitting!);
    await runSnippet(withAccounts!.replace("'../accounts'", JSON.stringify(resolve('.'))));
    const lines = log.mock.calls.map((line: unknown[]) => line.join(' '));
    log.mockRestore();
    const said = `${alone}${emitting}${withAccounts}`.matchAll(/(?:console\.log|emit)\(.*\/\/ (.*)/g);
    expect(lines).toEqual([...said].map(([, text]) => text));
  });

  it('says what is wrong, at the start and later, in the words of the page', async () => {
    interface Guard {
      ready(): Promise<void>;
      authorize(authorization: string, requirement: object): Promise<object>;
      close(): Promise<void>;
    }
    const { createGuard } = await runSnippet<{ createGuard: (options: object) => Guard }>(
      "export { createGuard } from 'accounts-client/service';",
    );
    const deaf = await aServiceCaller(service, 'introspect', 'memberships');
    const lacking = await aServiceCaller(service, 'introspect', 'events');
    const warnings: string[] = [];
    const guardOf = ({ name, secret }: ServiceCaller, options: object, credentials = {}): Guard => {
      const log = { warn: (line: string) => void warnings.push(line) };
      const guard = createGuard({
        issuer: env.JWT_ISSUER,
        audience: name,
        credentials: { name, secret, ...credentials },
        log,
        ...options,
      });
      ends.push(() => guard.close());
      return guard;
    };
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const unready = guardOf(deaf, {
      issuer: 'http://localhost:3000',
      baseUrl: service.url,
      audience: [deaf.name, 'bilding'],
    });
    const failure = await unready.ready().catch((error: unknown) => (error as Error).message);
    const asOnPage = (printed: unknown, { name }: ServiceCaller): string =>
      String(printed).replaceAll(name, 'billing').replaceAll(service.url, 'https://accounts.example.com');
    expectPrinted(asOnPage(failure, deaf), outputOf('docs/services.md', 'The guard is not ready'));

    warnings.length = 0;
    const own = `Bearer ${await aBoundToken(billing, cast.owner)}`;
    const ofLacking = `Bearer ${await aBoundToken(lacking, cast.owner)}`;
    const requirement = { orgId: cast.org.id, role: 'member' };
    await guardOf(billing, {}, { secret: `acs_${'A'.repeat(43)}` }).authorize(own, {});
    await guardOf(lacking, {}).authorize(ofLacking, requirement);
    await guardOf(billing, { baseUrl: nowhere }).authorize(own, {});
    await guardOf(billing, { audience: 'bilding' }).authorize(own, {});
    await guardOf(billing, {}).authorize(`Bearer ${cast.owner.token}`, {});
    const said = warnings.join('\n').replaceAll(nowhere, service.url);
    expectPrinted(
      asOnPage(asOnPage(said, billing), lacking),
      outputOf('docs/services.md', 'accounts-client: requests'),
    );
  });
});
