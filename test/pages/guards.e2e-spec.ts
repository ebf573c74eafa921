import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../tooling/servers/free-port.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount, anOrg, type Cast } from '../support/personas.js';
import { type Instance, startOwnService } from '../support/service.js';
import { aBoundToken, aServiceCaller, type ServiceCaller } from '../support/service-caller.js';

const PAGE = readFileSync(resolve('docs/services.md'), 'utf8');
const FRAMEWORKS = ['Express', 'Express 4', 'Fastify', 'Nest'] as const;
type Framework = (typeof FRAMEWORKS)[number];
const COMPILER = {
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  target: ts.ScriptTarget.ES2022,
};

interface Snippet {
  accounts: { close(): Promise<void> };
  app?: RequestListener | { listen(options: { port: number }): Promise<string>; close(): Promise<void> };
  AppModule?: Type;
}

describe('a guard of docs/services.md', () => {
  let installation: Installation;
  let service: Instance;
  let cast: Cast;
  let billing: ServiceCaller;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    installation = await anInstallation();
    const port = await freePort();
    const env = { PORT: String(port), JWT_ISSUER: `http://127.0.0.1:${port}` };
    service = await startOwnService({ installation, env });
    cast = await anOrg(service);
    billing = await aServiceCaller(service, 'introspect', 'memberships', 'events');
    installClient(installation.directory);
  });
  afterAll(async () => {
    for (const end of ends) await end();
    await service.stop();
    await installation.remove();
  });

  /** The package as it is built, beside everything else that is installed. */
  function installClient(directory: string): void {
    const built = join(directory, 'client');
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const options = ['--project', 'client/tsconfig.build.json', '--outDir', join(built, 'dist')];
    execFileSync(process.execPath, [tsc, ...options]);
    cpSync('client/package.json', join(built, 'package.json'));
    symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
    mkdirSync(join(directory, 'guards/node_modules'), { recursive: true });
    symlinkSync(built, join(directory, 'guards/node_modules/accounts-client'));
  }

  /** @returns where the routes of the snippet are */
  async function start(framework: Framework, edit = (text: string): string => text): Promise<string> {
    const [chapterName] = framework.split(' ');
    const chapter = new RegExp(`^### The guard in ${chapterName}$.*?^\`\`\`[jt]s\\n(.*?)^\`\`\`$`, 'ms').exec(
      PAGE,
    )!;
    const text = edit(chapter[1]!)
      .replace("from 'express'", framework === 'Express 4' ? "from 'express4'" : "from 'express'")
      .replace('https://accounts.example.com', service.url)
      .replaceAll("'billing'", `'${billing.name}'`)
      .replace(/process\.env.*(?= })/, `'${billing.secret}'`);
    const file = join(installation.directory, `guards/${crypto.randomUUID()}.mjs`);
    const program = `${text}\nexport { accounts };\n`;
    writeFileSync(file, ts.transpileModule(program, { compilerOptions: COMPILER }).outputText);
    const { accounts, app, AppModule } = (await import(pathToFileURL(file).href)) as Snippet;
    ends.push(() => accounts.close());
    return AppModule ? startNest(AppModule) : startApp(app!);
  }

  async function startNest(module: Type): Promise<string> {
    const app = await NestFactory.create(module, new FastifyAdapter(), { logger: false });
    ends.unshift(() => app.close());
    await app.listen(0, '127.0.0.1');
    return app.getUrl();
  }

  async function startApp(app: NonNullable<Snippet['app']>): Promise<string> {
    if (typeof app === 'object') {
      ends.unshift(() => app.close());
      return app.listen({ port: 0 });
    }
    const server = createServer(app).listen(0, '127.0.0.1');
    ends.unshift(() => server.close());
    await new Promise((listening) => server.once('listening', listening));
    return urlOf(server);
  }

  it.each(FRAMEWORKS)('in %s lets members with the role in, until they are removed', async (framework) => {
    const url = `${await start(framework)}/orgs/${cast.org.id}/invoices`;
    const ask = async (authorization?: string): Promise<Response> =>
      fetch(url, { headers: authorization === undefined ? {} : { authorization } });
    const tokenOf = async (account: Account): Promise<string> =>
      `Bearer ${await aBoundToken(billing, account)}`;
    const another = await anAccount(service);
    const { status } = await cast.owner.post(`/api/orgs/${cast.org.id}/members`, {
      email: another.email,
      role: 'admin',
    });
    expect(status).toBe(201);
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

  it.each(FRAMEWORKS)('in %s answers 500, and goes on, where the route has no orgId', async (framework) => {
    const url = await start(framework, (text) => text.replaceAll(':orgId', ':org'));

    for (let time = 0; time < 2; time += 1) {
      expect((await fetch(`${url}/orgs/${cast.org.id}/invoices`)).status).toBe(500);
    }
  });
});

function urlOf(server: Server): string {
  const address = server.address();
  return typeof address === 'object' ? `http://127.0.0.1:${address!.port}` : address;
}
