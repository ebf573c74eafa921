import { request } from 'node:http';
import { Controller, Get, Module, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AllowedServices, Operators, Public, SignedIn } from '../../src/access/access.decorators.js';
import { CurrentUser } from '../../src/http/request-origin.js';
import type { ServiceScope, UserPrincipal } from '../../src/access/principal.js';
import { configureApp } from '../../src/app/serve.js';
import { SCHEMA } from '../../src/app/schema.js';
import { AppModule } from '../../src/app/app.module.js';
import { loadKeyFile } from '../../src/auth/tokens/key-file.js';
import { KeyRing } from '../../src/auth/tokens/signing-keys.js';
import { parseEnv } from '../../src/config/env.js';
import { migrate } from '../../src/database/migrate.js';
import { Connections, IdleConnections } from '../../src/http/connections.js';
import { fastifyOptions } from '../../src/http/server.js';
import { RequestLog } from '../../src/http/request-log.js';
import { ServiceChanges } from '../../src/services/service-changes.js';
import { Caller } from '../support/caller.js';
import { contractOf } from '../support/contract.js';
import {
  insufficientScope,
  invalidClient,
  invalidToken,
  operatorRequired,
  unauthorized,
} from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aPassword, anEmail, type Session } from '../support/personas.js';

@Controller('probe')
class ProbeController {
  @Get('undeclared')
  askUndeclared(): object {
    return {};
  }

  @Get('services')
  @AllowedServices('introspect')
  askAsService(@Req() { principal }: FastifyRequest): object {
    return principal ?? {};
  }

  @Get('operators')
  @Operators()
  askAsOperator(): object {
    return {};
  }

  @Get('signed-in')
  @SignedIn()
  askSignedIn(@CurrentUser() { kind, amr, service }: UserPrincipal): object {
    return { kind, amr, service };
  }

  @Get('mistaken')
  @Public()
  askForUser(@CurrentUser() { id }: UserPrincipal): object {
    return { id };
  }
}

describe('the application with a route of each kind of access', () => {
  let app: NestFastifyApplication;
  let installation: Installation;
  let anyone: Caller;
  let user: Caller;
  let billing: string;
  let reports: string;

  beforeAll(async () => {
    installation = await anInstallation();
    const env = parseEnv(installation.env);
    await migrate(env, SCHEMA);
    const keys = new KeyRing(loadKeyFile(env.jwtKeysFile, env.production));
    @Module({ imports: [AppModule.forRoot(env, keys)], controllers: [ProbeController] })
    class ProbedModule {}
    const log = pino({ level: 'silent' });
    const requestLog = new RequestLog(log);
    const connections = new Connections(requestLog, new IdleConnections(log));
    app = await NestFactory.create<NestFastifyApplication>(
      ProbedModule,
      new FastifyAdapter(fastifyOptions(env, connections, requestLog)),
      { logger: false, bodyParser: false },
    );
    await configureApp(app, env, connections);
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    anyone = new Caller({ url, contract: contractOf(url), secrets: installation.secrets });
    const credentials = { email: anEmail(), password: aPassword() };
    const { body } = await anyone.post<Session>('/api/auth/register', credentials);
    user = anyone.withToken(body.token);
    [billing, reports] = [await aService('billing', 'introspect'), await aService('reports', 'memberships')];
  });
  afterAll(async () => {
    await app.close();
    await installation.remove();
  });

  async function aService(name: string, scope: ServiceScope): Promise<string> {
    const { secret } = await app
      .get(ServiceChanges, { strict: false })
      .add(name, [scope], { kind: 'system' });
    return `Basic ${btoa(`${name}:${secret}`)}`;
  }

  it('refuses a route that declares nothing to everybody', async () => {
    expect(await anyone.get('/probe/undeclared')).toMatchObject(unauthorized);
    expect(await user.get('/probe/undeclared')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it('admits whoever is signed in, by the login that their session is', async () => {
    const { status, body } = await user.get('/probe/signed-in');
    expect({ status, body }).toEqual({ status: 200, body: { kind: 'user', amr: ['pwd'], service: null } });
  });

  it('admits a service to what it is allowed, and to nothing for users', async () => {
    const [allowed, other] = [billing, reports].map((authorization) => anyone.with({ authorization }));
    const { status, body } = await allowed!.get('/probe/services');
    expect({ status, body }).toEqual({
      status: 200,
      body: { kind: 'service', name: 'billing', allow: ['introspect'], epoch: 0 },
    });
    expect(await other!.get('/probe/services')).toMatchObject(insufficientScope('introspect'));
    for (const route of ['undeclared', 'operators', 'signed-in']) {
      expect(await allowed!.get(`/probe/${route}`), route).toMatchObject(invalidToken);
    }
    expect((await allowed!.get('/probe/mistaken')).status).toBe(500);
  });

  it('takes no second header for the one that counts', async () => {
    const { hostname, port } = new URL(await app.getUrl());
    const statuses = [[billing], [billing, reports], [billing, billing]].map(
      (headers) =>
        new Promise((resolve, reject) => {
          const authorization = headers.flatMap((header) => ['Authorization', header]);
          request({ hostname, port, path: '/probe/services', headers: ['Host', hostname, ...authorization] })
            .on('response', (response) => resolve(response.resume().statusCode))
            .on('error', reject)
            .end();
        }),
    );
    expect(await Promise.all(statuses)).toEqual([200, 401, 401]);
  });

  it('admits no user to a route for services', async () => {
    for (const caller of [anyone, user]) {
      const answer = await caller.get('/probe/services');
      expect(answer).toMatchObject(invalidClient);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="[^"]+"/);
    }
  });

  it('admits no user to a route for operators, but says to nobody only that they need a token', async () => {
    expect(await anyone.get('/probe/operators')).toMatchObject(unauthorized);
    expect(await user.get('/probe/operators')).toMatchObject(operatorRequired);
  });

  it.each(['services', 'operators', 'signed-in', 'undeclared'])(
    'admits no strange credentials to %s',
    async (route) => {
      const basic = anyone.with({ authorization: `Basic ${btoa('billing:acs_')}` });
      const expected = route === 'services' ? invalidClient : invalidToken;
      expect(await basic.get(`/probe/${route}`)).toMatchObject(expected);
    },
  );

  it('fails where a handler asks for a user whom the declaration does not require', async () => {
    expect((await user.get('/probe/mistaken')).status).toBe(500);
  });
});
