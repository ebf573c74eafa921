import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Public } from '../../src/access/access.decorators.js';
import type { UserPrincipal } from '../../src/access/principal.js';
import {
  type Access,
  directSession,
  admitsUnverified,
  takesBoundTokens,
} from '../../src/access/route-access.js';
import { AppModule } from '../../src/app/app.module.js';
import { SCHEMA } from '../../src/app/schema.js';
import { configureApp } from '../../src/app/serve.js';
import { loadKeyFile } from '../../src/auth/tokens/key-file.js';
import { KeyRing } from '../../src/auth/tokens/signing-keys.js';
import { parseEnv } from '../../src/config/env.js';
import { migrate } from '../../src/database/migrate.js';
import { Connections, IdleConnections } from '../../src/http/connections.js';
import { RequestLog } from '../../src/http/request-log.js';
import { CurrentUser } from '../../src/http/request-origin.js';
import { fastifyOptions } from '../../src/http/server.js';
import { accountsJson } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import { Caller } from '../support/caller.js';
import { type DeclaredRoute, declaredRoutes } from '../support/declared-routes.js';
import { unauthorized } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import type { Account, Session } from '../support/personas.js';
import { anAccount, anEmail, anOrgOf, anUnknownId, aPassword, byCode, join } from '../support/personas.js';
import { startMailing } from '../support/mailing.js';
import { anOperator } from '../support/operators.js';
import { NO_LIMITS, type Service, startService } from '../support/service.js';
import { aBoundToken, aServiceCaller } from '../support/services.js';

@Controller('probe')
class ProbeController {
  @Get('undeclared')
  askUndeclared(): object {
    return {};
  }

  @Get('mistaken')
  @Public()
  askForUser(@CurrentUser() { id }: UserPrincipal): object {
    return { id };
  }
}

const PRINCIPALS = ['nobody', 'a service', 'a user by code', 'a user by login'] as const;
type Principal = (typeof PRINCIPALS)[number];

/** Every code by which a route rejects a caller for who they are. */
const REFUSALS = (
  'unauthorized invalid_token invalid_client forbidden insufficient_scope operator_required ' +
  'insufficient_user_authentication direct_session_required not_a_member ' +
  'insufficient_role'
).split(' ');

const routes = await declaredRoutes();
const cases = routes.flatMap((route) =>
  PRINCIPALS.map((principal) => ({ route, at: `${route.method} ${route.path}`, principal })),
);

function refusalOf(access: Access, principal: Principal): string | undefined {
  if (access.to === 'everyone') return undefined;
  if (access.to === 'services') return principal === 'a service' ? undefined : 'invalid_client';
  if (principal === 'nobody') return 'unauthorized';
  if (principal === 'a service') return 'invalid_token';
  if (access.to === 'operators') return 'operator_required';
  if (principal !== 'a user by code' || !access.assurance) return undefined;
  return access.assurance === directSession ? 'direct_session_required' : 'insufficient_user_authentication';
}

interface Subject {
  user: Account;
  orgId: string;
}

describe('each route, as it is declared', () => {
  let service: Service;
  let credentials: string;
  /** by their role: they change nothing */
  const readers = new Map<string, Promise<Subject>>();

  beforeAll(async () => {
    service = await startService();
    credentials = await aServiceWithEverything();
  });
  afterAll(() => service.stop());

  it('is one of the document', async () => {
    const { body } = await service.anyone.get<{ paths: Record<string, object> }>('/openapi.json');
    const documented = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(documented.toSorted());
  });

  it.each(cases)('$at: $principal', async ({ route, principal }) => {
    const answer = await ask(route, principal);
    const { code } = answer.body as { code?: string };
    expect(
      REFUSALS.find((one) => one === code),
      answer.text,
    ).toBe(refusalOf(route.access!, principal));
  });

  async function ask({ method, path, access }: DeclaredRoute, principal: Principal): Promise<Answer> {
    if (principal === 'nobody' || principal === 'a service') {
      const caller =
        principal === 'nobody' ? service.anyone : service.anyone.with({ authorization: credentials });
      return send(caller, method, path, anUnknownId());
    }
    const { user, orgId } = await (method === 'GET' ? aReaderFor(access!) : aUserFor(access!));
    const caller = principal === 'a user by code' ? await byCode(service, user) : user;
    return send(caller, method, path, orgId);
  }

  function aReaderFor(access: Access): Promise<Subject> {
    const kind = access.to === 'members' ? access.minRole : '';
    const reader = readers.get(kind) ?? aUserFor(access);
    readers.set(kind, reader);
    return reader;
  }

  /** A user of their own, since some routes end sessions or delete what they are about; with no more than the least role. */
  async function aUserFor(access: Access): Promise<Subject> {
    const user = await anAccount(service);
    if (access.to !== 'members') return { user, orgId: anUnknownId() };
    if (access.minRole === 'owner') return { user, orgId: (await anOrgOf(user)).id };
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    await join(org, owner, user, access.minRole);
    return { user, orgId: org.id };
  }

  const send = (caller: Caller, method: string, path: string, orgId: string) =>
    caller.send(method, path.replace(':orgId', orgId).replaceAll(/:\w+/g, anUnknownId));

  async function aServiceWithEverything(): Promise<string> {
    const name = `access-${Date.now()}`;
    const allow = 'introspect,memberships,events,directory,directory:all';
    const command = ['services', 'add', name, '--allow', allow, '--as', 'root', '--reason', 'a test'];
    const [added] = await accountsJson<{ secret: string }>(service.installation, command);
    const { secret } = added!;
    return `Basic ${btoa(`${name}:${secret}`)}`;
  }
});

const FOR_UNVERIFIED_USERS = [
  'POST /api/auth/logout',
  'GET /api/me',
  'DELETE /api/me',
  'GET /api/me/account',
  'PUT /api/me/email',
  'POST /api/me/email/verification',
  'POST /api/me/email/verify',
  'GET /api/me/sessions',
];

describe('with EMAIL_VERIFICATION=required, a user with an unverified email', async () => {
  const { service } = await startMailing({ ...NO_LIMITS, EMAIL_VERIFICATION: 'required' });
  const forUsers = routes
    .filter(({ access }) => access?.to !== 'everyone' && access?.to !== 'services')
    .map(({ method, path, access }) => ({ method, path, access, at: `${method} ${path}` }));

  /** An operator, with three sessions that began while the email was verified. */
  async function unverifiedSessions(): Promise<Account[]> {
    const user = await anOperator(service);
    const billing = await aServiceCaller(service);
    const sessions = [user, await byCode(service, user), user.as(await aBoundToken(billing, user))];
    await service.db.query('UPDATE users SET email_verified_at = NULL WHERE id = ?', [user.id]);
    return sessions;
  }
  let kept: Promise<Account[]> | undefined;

  it('may use the listed routes', () => {
    const listed = forUsers.filter(({ access }) => admitsUnverified(access!)).map(({ at }) => at);
    expect(listed.toSorted()).toEqual(FOR_UNVERIFIED_USERS.toSorted());
  });

  it.each(forUsers)('$at', async ({ method, path, at, access }) => {
    const isAdmitted = FOR_UNVERIFIED_USERS.includes(at);
    // A route that admits the user may end the session.
    const sessions = isAdmitted ? unverifiedSessions() : (kept ??= unverifiedSessions());
    const codes: (string | undefined)[] = [];
    for (const session of await sessions) {
      const answer = await session.send<{ code?: string }>(method, path.replaceAll(/:\w+/g, anUnknownId));
      codes.push(answer.body.code);
    }
    // A token for one service is rejected as such where none is admitted.
    const expected = [true, true, takesBoundTokens(access)].map((isIn) => isIn && !isAdmitted);
    expect(codes.map((code) => code === 'email_not_verified')).toEqual(expected);
  });
});

describe('the application with routes that are declared wrong', () => {
  let app: NestFastifyApplication;
  let installation: Installation;
  let anyone: Caller;
  let user: Caller;

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
    anyone = new Caller({ url, secrets: installation.secrets });
    const credentials = { email: anEmail(), password: aPassword() };
    const { body } = await anyone.post<Session>('/api/auth/register', credentials);
    user = anyone.withToken(body.token);
  });
  afterAll(async () => {
    await app.close();
    await installation.remove();
  });

  it('refuses a route that declares nothing to everybody', async () => {
    expect(await anyone.get('/probe/undeclared')).toMatchObject(unauthorized);
    expect(await user.get('/probe/undeclared')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it('fails where a handler asks for a user whom the declaration does not require', async () => {
    expect((await user.get('/probe/mistaken')).status).toBe(500);
  });
});
