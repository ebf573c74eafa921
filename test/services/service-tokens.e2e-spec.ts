import { beforeAll, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { aCode, anAccount, anUnknownId, byCode } from '../support/personas.js';
import {
  aBoundToken,
  aCallToken,
  aServiceCaller,
  aServiceClient,
  basic,
  setCall,
  tokenRequest,
} from '../support/services.js';
import { aSigningKey, decodeToken, sessionIdOf, signToken } from '../support/signing-keys.js';
import { startService } from '../support/service.js';

const FORM = 'application/x-www-form-urlencoded';

const service = await startService();
const [billing, ledger, audit] = await Promise.all([
  aServiceCaller(service, 'introspect'),
  aServiceCaller(service, 'introspect'),
  aServiceCaller(service, 'introspect'),
]);
await setCall(service.db, billing, ledger);
await setCall(service.db, ledger, audit);
const ada = await anAccount(service, 'ada');

describe('a token that a service', () => {
  it('gets for a user names the user, the session and the way', async () => {
    const below = await byCode(service, ada);
    const subject = await aBoundToken(billing, below);
    const token = await aCallToken(billing, ledger, subject);
    const { sid, login_sid, branch_sid, auth_time, amr, epoch, sub, iss } = decodeToken(subject).claims;
    const kept = { sid, login_sid, branch_sid, auth_time, amr, epoch, sub, iss };
    const { claims, header } = decodeToken(token);
    expect(header).toEqual(decodeToken(subject).header);
    expect([login_sid, branch_sid]).toEqual([sessionIdOf(ada), sessionIdOf(below)]);
    const iat = claims['iat'] as number;
    expect(claims).toEqual({
      ...kept,
      aud: ledger.name,
      client_id: billing.name,
      act: { sub: `service:${billing.name}` },
      via_epoch: 0,
      jti: expect.any(String),
      iat,
      exp: iat + 300,
    });
    const introspected = await ledger.introspect({ token });
    expect(introspected.body).toEqual({
      active: true,
      token_type: 'Bearer',
      ...claims,
      username: ada.email,
      email_verified: false,
    });
    expect((await billing.introspect({ token })).body).toEqual({ active: false });
    const next = decodeToken(await aCallToken(ledger, audit, token)).claims;
    expect(next).toEqual({
      ...claims,
      aud: audit.name,
      client_id: ledger.name,
      act: { sub: `service:${ledger.name}`, act: { sub: `service:${billing.name}` } },
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
  });

  it('gets for itself has neither user nor session', async () => {
    const token = await aCallToken(billing, ledger);
    const { claims } = decodeToken(token);
    const iat = claims['iat'] as number;
    expect(claims).toEqual({
      iss: 'accounts',
      aud: ledger.name,
      sub: `service:${billing.name}`,
      client_id: billing.name,
      via_epoch: 0,
      jti: expect.any(String),
      iat,
      exp: iat + 300,
    });
    expect((await ledger.introspect({ token })).body).toEqual({
      active: true,
      token_type: 'Bearer',
      ...claims,
    });
    expect((await billing.introspect({ token })).body).toEqual({ active: false });
  });
});

const TYPE = 'urn:ietf:params:oauth:token-type:access_token';

type Body = Record<string, unknown>;

describe('a request for a token', () => {
  let subject: string;
  beforeAll(async () => {
    subject = await aBoundToken(billing, ada);
  });

  const own = (more: Record<string, string> = {}) => ({ ...tokenRequest(ledger.name), ...more });
  const forUser = (more: Record<string, string> = {}) => ({ ...tokenRequest(ledger.name, subject), ...more });
  const without = (name: string, all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).filter(([one]) => one !== name));
  const ask = (parameters: Record<string, string>) => billing.requestToken<Body>(parameters);
  const fieldsOf = ({ body }: { body: Body }) =>
    (body['errors'] as { field: string }[]).map(({ field }) => field);

  it('is answered with the members of RFC 6749 and RFC 8693, and never stored by a cache', async () => {
    const answer = await ask(forUser({ requested_token_type: TYPE }));
    const grant = { access_token: expect.any(String), token_type: 'Bearer', expires_in: 300 };
    expect(answer.body).toEqual({ ...grant, issued_token_type: TYPE });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await ask(own())).body).toEqual(grant);
  });

  it.each([
    ['none', {}],
    ['an empty one', { grant_type: '' }],
    ['another one', { grant_type: 'authorization_code' }],
    ['a password', { grant_type: 'password' }],
    ['a misspelled one', { grant_type: 'client_credential' }],
    ['one in capitals', { grant_type: 'CLIENT_CREDENTIALS' }],
    ['a key of every object', { grant_type: 'constructor' }],
  ])('has a grant type, not %s', async (_what, change) => {
    const answer = await ask({ ...without('grant_type', own()), ...change });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'unsupported_grant_type', error: 'unsupported_grant_type' },
    });
  });

  it.each<[what: string, parameters: () => Record<string, string>, fields: string[]]>([
    ['no audience', () => without('audience', own()), ['audience']],
    ['an empty audience', () => own({ audience: '' }), ['audience']],
    ['an audience in capitals', () => own({ audience: 'Ledger' }), ['audience']],
    ['an audience of 41 characters', () => own({ audience: 'a'.repeat(41) }), ['audience']],
    ['a URL as audience', () => own({ audience: 'https://ledger' }), ['audience']],
    ['no subject token', () => without('subject_token', forUser()), ['subject_token']],
    ['no type', () => without('subject_token_type', forUser()), ['subject_token_type']],
    [
      'another type',
      () => forUser({ subject_token_type: TYPE.replace('access', 'refresh') }),
      ['subject_token_type'],
    ],
    ['another requested type', () => forUser({ requested_token_type: 'urn:x' }), ['requested_token_type']],
    ['both bad', () => without('subject_token', forUser({ audience: 'X' })), ['subject_token', 'audience']],
    ['a subject token for itself', () => own({ subject_token: subject }), ['subject_token']],
    [
      'a type for itself',
      () => own({ subject_token_type: TYPE, requested_token_type: TYPE }),
      ['subject_token_type', 'requested_token_type'],
    ],
    ...['actor_token', 'actor_token_type', 'resource', 'scope'].flatMap(
      (name): [string, () => Record<string, string>, string[]][] => [
        [`${name} for a user`, () => forUser({ [name]: 'x' }), [name]],
        [`${name} for itself`, () => own({ [name]: 'x' }), [name]],
      ],
    ),
  ])('is refused with %s', async (_what, parameters, fields) => {
    const answer = await ask(parameters());
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', error: 'invalid_request' },
    });
    expect(fieldsOf(answer)).toEqual(fields);
  });

  it('may have empty and unknown parameters', async () => {
    expect((await ask(own({ scope: '', client_id: billing.name, further: 'x' }))).status).toBe(200);
  });

  it.each<[what: string, body: string, type: string, status: number, code: string]>([
    ['JSON', '{}', 'application/json', 415, 'unsupported_media_type'],
    ['a repeated parameter', 'grant_type=client_credentials&audience=x&audience=y', FORM, 400, 'bad_request'],
    ['no UTF-8', 'audience=x', `${FORM}x`, 415, 'unsupported_media_type'],
    ['17 KiB', `audience=${'x'.repeat(17_408)}`, FORM, 413, 'body_too_large'],
    ['nothing', '', FORM, 400, 'unsupported_grant_type'],
  ])('is refused with %s as its body', async (_what, body, type, status, code) => {
    const answer = await billing.sendForm<Body>('/api/auth/token', body, type);
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.body['error']).toBe(code === 'unsupported_grant_type' ? code : 'invalid_request');
  });

  it('is refused without a body', async () => {
    expect((await billing.post<Body>('/api/auth/token')).body).toMatchObject({
      code: 'unsupported_grant_type',
    });
  });

  it.each<[what: string, authorization: () => string | undefined]>([
    ['none', () => undefined],
    ['an access token', () => `Bearer ${ada.token}`],
    ['a token for the service', () => `Bearer ${subject}`],
    ['a wrong secret', () => basic(billing.name, `acs_${'A'.repeat(43)}`)],
    ['the secret of another service', () => basic(billing.name, ledger.secret)],
  ])('needs the credentials of a service, not %s', async (_what, authorization) => {
    const header = authorization();
    const by = header === undefined ? service.anyone : service.anyone.with({ authorization: header });
    const body = new URLSearchParams(own()).toString();
    const answer = await by.send<Body>('POST', '/api/auth/token', {
      headers: { 'content-type': FORM },
      body,
    });
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_client', error: 'invalid_client' } });
    expect(answer.headers.get('www-authenticate')).toContain('Basic');
  });

  it('carries invalid_client as error at other routes, too', async () => {
    const wrong = service.anyone.with({ authorization: basic(billing.name, `acs_${'A'.repeat(43)}`) });
    const answer = await wrong.post<Body>('/api/auth/code/exchange', { code: 'x' });
    expect(answer.body).toMatchObject({ code: 'invalid_client', error: 'invalid_client' });
  });

  describe('for a target that the service may not call', () => {
    it('gets one identical answer for each reason', async () => {
      const [disabled, removed, unallowed] = (
        await Promise.all(times(3, () => aServiceClient(service.db)))
      ).map(({ name }) => name) as [string, string, string];
      for (const name of [disabled, removed]) await setCall(service.db, billing, { name });
      await service.db.query('UPDATE services SET disabled_at = 1 WHERE name IN (?, ?)', [disabled, removed]);
      await service.db.query('UPDATE services SET removed_at = 1 WHERE name = ?', [removed]);
      const answers = new Set<string>();
      for (const audience of ['nobody', disabled, removed, unallowed, billing.name, 'accounts', audit.name]) {
        for (const parameters of [own({ audience }), forUser({ audience })]) {
          const { status, body } = await ask(parameters);
          expect([status, body['error']], audience).toEqual([400, 'invalid_target']);
          answers.add(JSON.stringify({ ...body, requestId: undefined }));
        }
      }
      expect([...answers]).toHaveLength(1);
    });

    it('is refused once the way has four services, or has the service already', async () => {
      const callers = await Promise.all(times(6, () => aServiceCaller(service, 'introspect')));
      for (const caller of callers)
        for (const callee of callers) if (caller !== callee) await setCall(service.db, caller, callee);
      let token = await aBoundToken(callers[0]!, ada);
      for (const [index, callee] of callers.slice(1, 5).entries())
        token = await aCallToken(callers[index]!, callee, token);
      for (const to of [callers[5]!, callers[0]!, callers[4]!])
        expect((await callers[4]!.requestToken(tokenRequest(to.name, token))).body).toMatchObject({
          code: 'invalid_target',
        });
    });
  });

  describe('with a subject token that', () => {
    const key = service.installation.keys[0]!;
    const forged = (change: Body, of = subject, by = key): string => {
      const { header, claims } = decodeToken(of);
      return signToken(header, { ...claims, ...change }, by);
    };
    const now = () => Math.floor(Date.now() / 1000);

    it.each<[what: string, token: () => string | Promise<string>]>([
      ['is a full token', () => ada.token],
      ['is of a session by a plain code', async () => (await byCode(service, ada)).token],
      ['is for another service', () => aBoundToken(ledger, ada)],
      ['is a token of the service itself', () => aCallToken(billing, ledger)],
      ['was handed on to another service', () => aCallToken(billing, ledger, subject)],
      ['is a secret', () => billing.secret],
      ['is a one-time code', () => aCode(ada)],
      ['is nothing', () => 'eyJ.eyJ.x'],
      ['is 15 KiB of dots', () => '.'.repeat(15_000)],
      ['expired a second ago', () => forged({ exp: now() - 1 })],
      ['expires now', () => forged({ exp: now() })],
      ['expired 31 s ago', () => forged({ exp: now() - 31 })],
      ['is signed by a foreign key', () => forged({}, subject, aSigningKey())],
      ['names another user', () => forged({ sub: anUnknownId() })],
      ['names another session', () => forged({ sid: anUnknownId() })],
      [
        'has ended',
        async () => {
          const ended = await aBoundToken(billing, ada);
          await service.anyone.withToken(ended).post('/api/auth/logout');
          return ended;
        },
      ],
    ])('%s, gets one identical answer', async (_what, token) => {
      const { status, body } = await ask(forUser({ subject_token: await token() }));
      expect({ status, ...body, requestId: 'x' }).toEqual({
        status: 400,
        type: 'about:blank',
        title: 'Bad Request',
        detail: 'The subject token is malformed, expired or revoked, or it is not for this service.',
        code: 'invalid_subject_token',
        error: 'invalid_request',
        requestId: 'x',
      });
    });

    it('is bad is named before a bad target', async () => {
      const answer = await ask(forUser({ subject_token: 'x', audience: 'nobody' }));
      expect(answer.body).toMatchObject({ code: 'invalid_subject_token' });
    });

    it('expires soon gets no token that lasts longer', async () => {
      const exp = now() + 20;
      const { body } = await ask(forUser({ subject_token: forged({ exp }) }));
      expect(decodeToken(body['access_token'] as string).claims['exp']).toBe(exp);
      expect(body['expires_in']).toBeLessThanOrEqual(20);
      expect(body['expires_in']).toBeGreaterThan(0);
    });

    it('has further claims hands none of them on', async () => {
      const more = { gen: 1, further: 'claim', scope: 'all', login_sid: sessionIdOf(ada) };
      const token = await aCallToken(billing, ledger, forged({ ...more, gen: undefined }));
      const names = 'act amr aud auth_time client_id epoch exp iat iss jti login_sid sid sub via_epoch';
      expect(Object.keys(decodeToken(token).claims).toSorted()).toEqual(names.split(' '));

      const [first, second] = [billing, ledger].map(({ name }) => `service:${name}`);
      const change = { act: { sub: first, further: 'claim' } };
      const handedOn = forged(change, await aCallToken(billing, ledger, subject));
      const next = decodeToken(await aCallToken(ledger, audit, handedOn)).claims;
      expect(next['act']).toEqual({ sub: second, act: { sub: first } });
    });
  });
});

const logged = (): Body[] => service.logs.map((line) => JSON.parse(line) as Body);

describe('a token that was handed on', () => {
  let token: string;
  beforeAll(async () => {
    token = await aCallToken(billing, ledger, await aBoundToken(billing, ada));
    await setCall(service.db, audit, ledger);
  });

  it('is accepted where a bound token is, but ends no session', async () => {
    const holder = ada.as(token);
    expect((await holder.get('/api/me')).status).toBe(200);
    expect((await holder.post('/api/auth/code')).body).toMatchObject({ code: 'insufficient_scope' });
    expect(await holder.post('/api/auth/logout')).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
    expect((await holder.get('/api/me')).status).toBe(200);
    const own = ada.as(await aCallToken(billing, ledger));
    for (const path of ['/api/me', '/api/me/sessions'])
      expect(await own.get(path)).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    expect(await own.post('/api/auth/logout')).toMatchObject({ status: 401 });
  });

  const actor = (...names: string[]): object | undefined =>
    names.reduce<object | undefined>((act, name) => ({ sub: name, ...(act && { act }) }), undefined);

  it.each<[what: string, change: () => Body]>([
    [
      'five services',
      () => ({
        act: actor(...['a', 'b', 'c', 'd'].map((name) => `service:${name}`), `service:${billing.name}`),
      }),
    ],
    ['a list of services', () => ({ act: [actor(`service:${billing.name}`)] })],
    ['a text', () => ({ act: `service:${billing.name}` })],
    ['null', () => ({ act: null })],
    ['a user', () => ({ act: actor(ada.id) })],
    ['no service', () => ({ act: {} })],
    ['the same service twice', () => ({ act: actor(...Array<string>(2).fill(`service:${billing.name}`)) })],
    ['the audience', () => ({ act: actor(`service:${ledger.name}`), client_id: ledger.name })],
    ['another service than the client', () => ({ client_id: audit.name })],
    ['the audience as the client', () => ({ client_id: ledger.name })],
    ['the session of a login', () => ({ sid: sessionIdOf(ada) })],
    ['another first service', () => ({ act: actor(`service:${audit.name}`), client_id: audit.name })],
    ['no state', () => ({ via_epoch: undefined })],
    ['a text as its state', () => ({ via_epoch: '0' })],
    ['an old state', () => ({ via_epoch: -1 })],
    ['a later state', () => ({ via_epoch: 1 })],
    ['no actor', () => ({ act: undefined, client_id: ledger.name })],
    ['a login that is no id', () => ({ login_sid: 'x' })],
  ])('is refused with %s in its claims', async (_what, change) => {
    const { header, claims } = decodeToken(token);
    const forgery = signToken(header, { ...claims, ...change() }, service.installation.keys[0]!);
    for (const by of [ledger, billing, audit])
      expect((await by.introspect({ token: forgery })).body).toEqual({ active: false });
    expect((await ada.as(forgery).get('/api/me')).status).toBe(401);
    const refused = await ledger.requestToken(tokenRequest(audit.name, forgery));
    expect(refused.body).toMatchObject({ code: 'invalid_subject_token' });
  });

  it.each<[what: string, change: () => Body]>([
    ['another client', () => ({ client_id: audit.name })],
    ['a session', () => ({ sid: sessionIdOf(ada) })],
    ['an actor', () => ({ act: { sub: `service:${billing.name}` } })],
    ['no state', () => ({ via_epoch: undefined })],
    ['a later state', () => ({ via_epoch: 1 })],
    ['itself as audience', () => ({ aud: billing.name })],
    ['all services as audience', () => ({ aud: 'accounts' })],
    ['a subject that is no service', () => ({ sub: 'service:Billing' })],
    ['no time of expiry', () => ({ exp: undefined })],
  ])('a token of the service itself is refused with %s', async (_what, change) => {
    const { header, claims } = decodeToken(await aCallToken(billing, ledger));
    const forgery = signToken(header, { ...claims, ...change() }, service.installation.keys[0]!);
    for (const by of [ledger, billing])
      expect((await by.introspect({ token: forgery })).body).toEqual({ active: false });
    expect((await ada.as(forgery).get('/api/me')).status).toBe(401);
  });

  it('is named in the request log by service, audience and user', async () => {
    const entry = await waitFor('the exchange is logged', hangTimeoutMs(), () =>
      Promise.resolve(logged().find((one) => one['userId'] === ada.id && one['audience'] === ledger.name)),
    );
    expect(entry).toMatchObject({ service: billing.name, status: 200, route: '/api/auth/token' });
  });
});
