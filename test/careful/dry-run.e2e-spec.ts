import { afterAll, describe, expect, it } from 'vitest';
import { type DocumentedOperation, DocumentReader } from '../openapi/documented.js';
import { allRows } from '../support/rows.js';
import type { Answer } from '../support/answer.js';
import type { Caller } from '../support/caller.js';
import {
  insufficientRole,
  invalidFields,
  lastOwner,
  memberNotFound,
  orgNotFound,
  unauthorized,
  wrongPassword,
} from '../support/expected.js';
import { memberPath as pathOfMember } from '../support/org-members.js';
import { anOperator } from '../support/operators.js';
import type { Account, Cast } from '../support/personas.js';
import { anEmail, anOrg, anUnknownId, aPassword } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';

type Case = [
  name: string,
  by: (cast: Cast) => Account,
  send: (by: Caller, query: string, cast: Cast) => Promise<Answer>,
  /** what has to be so before */
  prepare?: (cast: Cast) => Promise<Answer>,
];

const orgPath = ({ org }: Cast) => `/api/orgs/${org.id}`;
const memberPath = ({ org }: Cast, who: Account) => pathOfMember(org, who);
const anOwner = ({ owner }: Cast) => owner;
const anAdmin = ({ admin }: Cast) => admin;
const OWNER = { role: 'owner' };
const FUTURE = '2100-01-01T00:00:00.000Z';

/** Those that change something. */
const CHANGES: Case[] = [
  [
    'change a member',
    anOwner,
    (by, query, { org, member }) => by.patch(pathOfMember(org, member) + query, OWNER),
  ],
  ['remove a member', anAdmin, (by, query, { org, member }) => by.delete(pathOfMember(org, member) + query)],
  ['leave', anAdmin, (by, query, cast) => by.post(`${orgPath(cast)}/leave${query}`)],
  [
    'hand the organization over',
    anOwner,
    (by, query, cast) =>
      by.post(`${orgPath(cast)}/transfer${query}`, { userId: cast.member.id, leave: true }),
  ],
  [
    'require a second factor',
    anOwner,
    (by, query, cast) =>
      by.patch(orgPath(cast) + query, { name: 'Renamed', secondFactorRequiredFrom: FUTURE }),
    async ({ owner }) => (await protect(service, owner)).account.get('/api/me'),
  ],
  ['delete the organization', anOwner, (by, query, cast) => by.delete(orgPath(cast) + query)],
  [
    'restore the organization',
    anOwner,
    (by, query, cast) => by.post(`${orgPath(cast)}/restore${query}`),
    (cast) => cast.owner.delete(orgPath(cast)),
  ],
  [
    'change the profile',
    anAdmin,
    (by, query) => by.patch(`/api/me/profile${query}`, { name: 'Ada', locale: 'de' }),
  ],
  [
    'delete the account',
    anAdmin,
    (by, query, { admin }) => by.delete(`/api/me${query}`, { password: admin.password }),
  ],
];

const env = { RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_IP: 'off' };
const service = await startOwnService({ env });
const reader = await DocumentReader.of(service);
afterAll(() => service.stop());

describe('a dry run', () => {
  it.each(CHANGES)(
    'to %s answers as the change does, and changes no row',
    async (_name, by, send, prepare) => {
      const cast = await anOrg(service);
      await prepare?.(cast);
      const ask = (who: Caller, query: string) => send(who, query, cast);
      const before = await allRows(service.db);
      expect(Object.keys(before)).toEqual(expect.arrayContaining(['events', 'mails', 'idempotency_keys']));
      for (const headers of [{}, { 'if-match': '*' }, { 'idempotency-key': 'dry' }]) {
        const dry = await ask(by(cast).with(headers as Record<string, string>), '?dryRun=true');
        expect([dry.status, dry.headers.get('dry-run')]).toEqual([200, 'true']);
        expect(await allRows(service.db)).toEqual(before);
      }
      const dry = await ask(by(cast), '?dryRun=true');
      const real = await ask(by(cast), '');
      expect([real.status, timeless(real)]).toEqual([dry.status, timeless(dry)]);
      expect(real.headers.get('dry-run')).toBeNull();
      expect(dry.headers.get('etag'), 'the tag of a state that there is not').toBeNull();
      const different = (answer: Answer) =>
        [...answer.headers.keys()].filter((name) => !/^(?:dry-run|etag|ratelimit)/.test(name));
      expect(different(real)).toEqual(different(dry));
      expect(await allRows(service.db)).not.toEqual(before);
    },
  );

  it('is refused as the change is, and says that it is one', async () => {
    const cast = await anOrg(service);
    const { owner, admin, member } = cast;
    const nobody = `/api/orgs/${cast.org.id}/members/${anUnknownId()}`;
    const before = await allRows(service.db);
    const refusals: [object, Promise<Answer>][] = [
      [lastOwner, owner.delete(`${memberPath(cast, owner)}?dryRun=true`)],
      [lastOwner, owner.patch(`${memberPath(cast, owner)}?dryRun=true`, { role: 'admin' })],
      [lastOwner, owner.delete('/api/me?dryRun=true', { password: owner.password })],
      [insufficientRole('owner', 'admin'), admin.delete(`${memberPath(cast, owner)}?dryRun=true`)],
      [insufficientRole('admin', 'member'), member.delete(`${memberPath(cast, owner)}?dryRun=true`)],
      [memberNotFound, owner.delete(`${nobody}?dryRun=true`)],
      [orgNotFound, owner.delete(`/api/orgs/${anUnknownId()}/members/${member.id}?dryRun=true`)],
      [unauthorized, service.anyone.delete(`${memberPath(cast, member)}?dryRun=true`)],
      [invalidFields('role'), owner.patch(`${memberPath(cast, member)}?dryRun=true`, { role: 'root' })],
      [wrongPassword, owner.delete('/api/me?dryRun=true', { password: aPassword() })],
      [{ status: 400 }, owner.patch(`${memberPath(cast, member)}?dryRun=true`, [])],
    ];
    for (const [expected, sent] of refusals) {
      const answer = await sent;
      expect(answer, answer.text).toMatchObject(expected);
      expect(answer.headers.get('dry-run'), answer.text).toBe('true');
    }
    expect(await allRows(service.db)).toEqual(before);
  });

  it('is asked for by true; false asks for the change, and nothing else is taken', async () => {
    const cast = await anOrg(service);
    const path = memberPath(cast, cast.member);
    const before = await allRows(service.db);
    const odd = 'dryRun= dryRun dryRun=1 dryRun=True dryRun=true&dryRun=true dryRun=true&dryRun=false';
    for (const query of odd.split(' ')) {
      const answer = await cast.owner.delete(`${path}?${query}`);
      expect(answer, query).toMatchObject(invalidFields('dryRun'));
      expect(answer.headers.get('dry-run')).toBeNull();
    }
    const others =
      'dryrun DryRun dry_run dry-run DRYRUN dryRun[] dryRun[0] dryRun%5B%5D dry%52un=true&dryRUN';
    for (const name of others.split(' ')) {
      const message = 'has an unknown parameter; this operation accepts only dryRun, remedy';
      const answer = await cast.owner.delete(`${path}?${name}=true`);
      expect(answer, name).toMatchObject({
        status: 400,
        body: { code: 'validation_failed', errors: [{ field: 'query', message }] },
      });
    }
    expect(await allRows(service.db)).toEqual(before);
    const changed = await cast.owner.delete(`${path}?dryRun=false`);
    expect(changed.status, changed.text).toBe(200);
    expect(changed.headers.get('dry-run')).toBeNull();
    expect(await allRows(service.db)).not.toEqual(before);
  });

  /** All that change something, from the document itself, so that a new one cannot be forgotten. */
  const writes = (takesDryRun: boolean): DocumentedOperation[] =>
    reader.operations.filter(
      (operation) =>
        operation.method !== 'GET' &&
        !isForServices(operation) &&
        parametersOf(operation).includes('dryRun') === takesDryRun,
    );
  /** Services change nothing. */
  const isForServices = ({ security = [] }: DocumentedOperation): boolean =>
    security.length > 0 && security.every((need) => 'basic' in need);
  const parametersOf = ({ parameters = [] }: DocumentedOperation): string[] =>
    parameters.map((parameter) => reader.resolve(parameter as never as { $ref?: string; name: string }).name);

  it('has every route in this test that takes it', () => {
    expect(writes(true).map(({ operationId }) => operationId)).toHaveLength(CHANGES.length);
  });

  /** A request that would be done, where its example is about nobody. */
  const exampleOf = ({ requestBody }: DocumentedOperation): object | undefined => {
    const schema = requestBody?.content['application/json']?.schema;
    const body = schema && (reader.exampleOf(schema) as object);
    return body && 'email' in body ? { ...body, email: anEmail() } : body;
  };
  const pathOf = ({ path }: DocumentedOperation, known: Record<string, string> = {}): string =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? anUnknownId());
  const isPublic = ({ security = [] }: DocumentedOperation): boolean =>
    security.some((need) => Object.keys(need).length === 0);
  const isForOperators = ({ path }: DocumentedOperation): boolean => path.startsWith('/api/operators/');

  it.each<[string, field: string, operations: () => DocumentedOperation[], queries: string[]]>([
    [
      'is refused by every other change, before anything is done',
      'dryRun',
      () => writes(false),
      ['?dryRun=true', '?dryRun=no'],
    ],
    [
      'is one of two query parameters of changes: any other that a change does not declare is refused',
      'query',
      () => [...writes(true), ...writes(false)],
      ['?dry=true', '?x[]=1', '?__proto__=1', '?force', '?%00'],
    ],
  ])('%s', async (_what, field, operations, queries) => {
    const { org, owner, member } = await anOrg(service);
    const operator = await anOperator(service);
    const before = await allRows(service.db);
    expect(operations().length).toBeGreaterThan(12);
    for (const operation of operations()) {
      const path = pathOf(operation, { orgId: org.id, userId: member.id });
      const by = isForOperators(operation) ? operator : owner;
      for (const query of queries) {
        const answer = await by.sendJson(operation.method, path + query, exampleOf(operation));
        expect(answer, `${operation.operationId}: ${answer.text}`).toMatchObject(invalidFields(field));
        expect(answer.headers.get('dry-run')).toBeNull();
      }
    }
    expect(await allRows(service.db)).toEqual(before);
  });

  it('is refused there only to somebody who may ask for the change', async () => {
    const { owner } = await anOrg(service);
    const refusalOf = async (by: Caller, operation: DocumentedOperation): Promise<unknown> => {
      const { method, operationId } = operation;
      const answer = await by.sendJson(method, `${pathOf(operation)}?dryRun=true`, exampleOf(operation));
      return [operationId, (answer.body as { code: string }).code];
    };
    const [closed, ofOrgs] = [
      writes(false).filter((operation) => !isPublic(operation)),
      writes(false).filter(({ path }) => path.startsWith('/api/orgs/{orgId}')),
    ];
    for (const operation of closed)
      expect(await refusalOf(service.anyone, operation)).toEqual([operation.operationId, 'unauthorized']);
    for (const operation of ofOrgs)
      expect(await refusalOf(owner, operation)).toEqual([operation.operationId, 'org_not_found']);
  });

  it('takes the headers of a careful client on every change of an organization', () => {
    const changes = reader.operations.filter(
      ({ method, path }) => method !== 'GET' && path.startsWith('/api/orgs'),
    );
    for (const operation of changes) {
      const names = parametersOf(operation);
      expect(names, operation.operationId).toContain('Idempotency-Key');
      const hasState = !/(?:orgs|restore)$/.test(operation.path);
      expect(names.includes('If-Match'), operation.operationId).toBe(hasState);
    }
  });
});

/** Its moment is that of the answer: when a deleted organization is purged, for instance. */
const timeless = ({ text }: Answer) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time');
