import * as fc from 'fast-check';
import type { Database } from '../../support/database.js';
import { SECOND_FACTOR, AuthenticatorApp } from '../../support/second-factor.js';
import { type Role, ROLES } from '../../support/personas.js';
import { asRecord, asRecords, asString, asStrings, type Send } from '../../support/service-client.js';
import { aServiceClient, basic, type ServiceClient } from '../../support/services.js';
import { PASSWORD } from './deployment.js';
import { type ReferenceModel, Refused, type ServiceChange, type ShownCode } from './reference-model.js';

/** The service beside the model: maps the model's numbers to what the service has given, in the same order. */
export class RealService {
  readonly tokens: string[] = [];
  readonly codes: string[] = [];
  readonly orgIds: string[] = [];
  readonly invitations: { id: string; code: string }[] = [];
  readonly secrets: string[] = [];
  readonly recoveryCodes: string[] = [];
  readonly challenges: string[] = [];
  /** of each person, the app that was set up last */
  readonly apps = new Map<string, AuthenticatorApp>();
  readonly services = new Map<string, ServiceClient>();
  private readonly userIds = new Map<string, string>();

  /** @param run makes the emails and the services of one run its own */
  constructor(
    readonly send: Send,
    private readonly run: string,
    readonly db: Database,
  ) {}

  email(person: string): string {
    return `${person}.${this.run}@example.com`;
  }

  userId(person: string): string {
    return this.userIds.get(person) ?? 'nobody';
  }

  serviceName(service: string): string {
    return `${service}-${this.run.replaceAll('.', '-')}`;
  }

  credentials(person: string, password = PASSWORD): { email: string; password: string } {
    return { email: this.email(person), password };
  }

  noteUser(person: string, { user }: Body): void {
    this.userIds.set(person, asString(asRecord(user)['id']));
  }

  /** What each answer that has it gives. */
  note({ token, challenge, recoveryCodes = [] }: Body): void {
    if (token !== undefined) this.tokens.push(asString(token));
    if (challenge !== undefined) this.challenges.push(asString(challenge));
    this.recoveryCodes.push(...asStrings(recoveryCodes));
  }
}

type Body = Record<string, unknown>;
type Command = fc.AsyncCommand<ReferenceModel, RealService>;
type Check = (model: Readonly<ReferenceModel>) => boolean;

interface Exchange {
  send: [method: string, path: string, body?: object];
  /** returns the status of a success, or throws `Refused` */
  model: () => number;
  headers?: Record<string, string>;
  /** reads the answer of a success */
  done?: (body: Body) => void;
}

interface Place {
  model: ReferenceModel;
  real: RealService;
}

/** A command with any parts, which is possible if the check says so. */
function command<Parts extends unknown[]>(
  name: string,
  check: (model: Readonly<ReferenceModel>, ...parts: Parts) => boolean,
  run: (place: Place, ...parts: Parts) => Promise<void>,
): (...parts: Parts) => Command {
  return (...parts) => ({
    check: (model) => check(model, ...parts),
    run: (model, real) => run({ model, real }, ...parts),
    toString: () => `${name}(${parts.join(', ')})`,
  });
}

/** One request, answered exactly as the model says; none if there is nothing to send. */
function request<Parts extends unknown[]>(
  name: string,
  check: Check,
  make: (place: Place, ...parts: Parts) => (Exchange & { token?: string | undefined }) | undefined,
): (...parts: Parts) => Command {
  return command<Parts>(
    name,
    (model, ..._parts) => check(model),
    async (place, ...parts) => {
      const exchange = make(place, ...parts);
      if (!exchange) return;
      const { send, token, headers, model, done } = exchange;
      const [method, path, body] = send;
      const reply = await place.real.send(method, path, { token, body, ...(headers && { headers }) });
      const [found, wanted] = [`${reply.status} ${reply.code ?? ''}`.trim(), expectedOf(model)];
      if (found !== wanted) throw new Error(`${name}(${parts.join(', ')}): ${found} instead of ${wanted}`);
      place.real.note(reply.body);
      if (reply.status < 300) done?.(reply.body);
    },
  );
}

function expectedOf(model: () => number): string {
  try {
    return String(model());
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

interface SessionPlace extends Place {
  session: number;
}

/** By one of the sessions opened so far; `pick` chooses it whatever their number is. */
function bySession<Parts extends unknown[]>(
  name: string,
  make: (place: SessionPlace, ...parts: Parts) => Exchange | undefined,
  check: Check = () => true,
) {
  return request(
    name,
    (model) => model.sessions.length > 0 && check(model),
    ({ model, real }, pick: number, ...parts: Parts) => {
      const session = pick % model.sessions.length;
      const exchange = make({ model, real, session }, ...parts);
      return exchange && { ...exchange, token: real.tokens[session] };
    },
  );
}

function ofOrg<Parts extends unknown[]>(
  name: string,
  make: (place: SessionPlace & { org: number; path: string }, ...parts: Parts) => Exchange,
) {
  return bySession(
    name,
    (place, pick: number, ...parts: Parts) => {
      const org = pick % place.model.orgs.length;
      return make({ ...place, org, path: `/api/orgs/${place.real.orgIds[org]}` }, ...parts);
    },
    (model) => model.orgs.length > 0,
  );
}

function ofInvitation<Parts extends unknown[]>(
  name: string,
  make: (place: SessionPlace & { index: number; path: string }, ...parts: Parts) => Exchange,
) {
  return bySession(
    name,
    (place, pick: number, ...parts: Parts) => {
      const { model, real } = place;
      const index = pick % model.invitations.length;
      const org = real.orgIds[model.invitations[index]!.org];
      const path = `/api/orgs/${org}/invitations/${real.invitations[index]!.id}`;
      return make({ ...place, index, path }, ...parts);
    },
    (model) => model.invitations.length > 0,
  );
}

function demandEqual(what: string, found: readonly string[], wanted: readonly string[]): void {
  const [one, other] = [found.toSorted().join(), wanted.toSorted().join()];
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}

const register = request(
  'register',
  () => true,
  ({ model, real }, person: string) => ({
    send: ['POST', '/api/auth/register', real.credentials(person)],
    model: () => model.register(person),
    done: (body) => real.noteUser(person, body),
  }),
);

const login = request(
  'login',
  () => true,
  ({ model, real }, person: string, isRight: boolean) => ({
    send: ['POST', '/api/auth/login', real.credentials(person, isRight ? PASSWORD : 'another password')],
    model: () => model.login(person, isRight),
  }),
);

const me = bySession('me', ({ model, real, session }) => ({
  send: ['GET', '/api/me'],
  model: () => model.me(session),
  done: ({ orgs }) => {
    const wanted = model.orgsOf(model.userOf(session)).map((org) => real.orgIds[org]!);
    const found = asRecords(orgs).map(({ id }) => asString(id));
    demandEqual('organizations of me', found, wanted);
  },
}));

const issueCode = bySession('issueCode', ({ model, real, session }, audience?: string) => ({
  send: [
    'POST',
    '/api/auth/code',
    audience === undefined ? undefined : { audience: real.serviceName(audience) },
  ],
  model: () => model.issueCode(session, audience),
  done: ({ code }) => real.codes.push(asString(code)),
}));

/** Ends a session that a code opened: without their logins, most requests would be rejected. */
const logout = request(
  'logout',
  ({ sessions }) => sessions.some(({ parent }) => parent !== undefined),
  ({ model, real }, pick: number) => {
    const opened = [...model.sessions.keys()].filter((index) => model.sessions[index]!.parent !== undefined);
    const session = opened[pick % opened.length]!;
    const token = real.tokens[session];
    return { send: ['POST', '/api/auth/logout'], token, model: () => model.logout(session) };
  },
);

/** By one of the secrets, mostly under the name of the service that has it; or without any. */
const exchange = request(
  'exchange',
  ({ codes, secrets }) => codes.length > 0 && secrets.length > 0,
  ({ model, real }, pick: number, secretPick: number | undefined, otherName?: string) => {
    const index = pick % model.codes.length;
    const secret = (secretPick ?? 0) % model.secrets.length;
    const service = otherName ?? model.secrets[secret]!.service;
    const headers = { authorization: basic(real.serviceName(service), real.secrets[secret]!) };
    const by = secretPick === undefined ? undefined : { service, secret };
    return {
      send: ['POST', '/api/auth/code/exchange', { code: real.codes[index] }],
      ...(by && { headers }),
      model: () => model.exchange(index, by),
    };
  },
);

const addService = command(
  'addService',
  ({ services }, name: string) => !services.has(name),
  async ({ model, real }, name) => {
    model.addService(name);
    const added = await aServiceClient(real.db, [], real.serviceName(name));
    real.services.set(name, added);
    real.secrets.push(added.secret);
  },
);

/** What an operator does to a service; it acts at the next request. */
const changeService = command(
  'changeService',
  (model, name: string, change: ServiceChange) => {
    const { length } = model.liveSecrets(name);
    return change === 'rotate' ? length < 2 : length > 0 || !change.startsWith('revoke');
  },
  async ({ model, real }, name, change) => {
    const service = real.services.get(name)!;
    const [oldest] = model.liveSecrets(name);
    model.changeService(name, change);
    if (change === 'rotate') real.secrets.push(await service.rotate());
    else if (change === 'disable' || change === 'enable') await service[change]();
    else await service.revoke(real.secrets[oldest!]!);
    if (change === 'revoke and end') await service.endSessions();
  },
);

/** How a code is chosen, whatever codes there are. */
type CodeChoice = 'app' | 'wrong digits' | 'own recovery code' | 'any recovery code';

/** The code, and its text: undefined if the app has none that was not used, as each half minute brings one. */
function codeOf(
  { model, real }: Place,
  user: string,
  choice: CodeChoice,
  pick: number,
): [ShownCode, string?] {
  if (choice === 'own recovery code' || choice === 'any recovery code') {
    const isAny = choice === 'any recovery code';
    const codes = [...model.recoveryCodes.keys()].filter(
      (index) => isAny || model.recoveryCodes[index]!.user === user,
    );
    if (codes.length === 0) return codeOf({ model, real }, user, 'wrong digits', pick);
    const recovery = codes[pick % codes.length]!;
    return [{ recovery }, real.recoveryCodes[recovery]];
  }
  const app = real.apps.get(user);
  if (!app) return [choice, '000000'];
  if (choice === 'wrong digits') return [choice, app.wrong()];
  return [choice, app.hasNext() ? app.next() : undefined];
}

const beginSecondFactor = bySession('beginSecondFactor', ({ model, real, session }) => ({
  send: ['POST', SECOND_FACTOR, { password: PASSWORD }],
  model: () => model.beginSecondFactor(session),
  done: ({ secret }) => real.apps.set(model.userOf(session), new AuthenticatorApp(asString(secret))),
}));

const confirmSecondFactor = bySession('confirmSecondFactor', (place, isRight: boolean) => {
  const { model, session } = place;
  const [, code] = codeOf(place, model.userOf(session), isRight ? 'app' : 'wrong digits', 0);
  if (code === undefined) return undefined;
  return {
    send: ['POST', `${SECOND_FACTOR}/confirm`, { code }],
    model: () => model.confirmSecondFactor(session, isRight),
  };
});

const secondStep = request(
  'secondStep',
  ({ challenges }) => challenges.length > 0,
  ({ model, real }, pick: number, choice: CodeChoice, pickCode: number) => {
    // The latest of them are those that are still good.
    const last = model.challenges.length - 1;
    const index = last - (pick % Math.min(last + 1, 5));
    const [shown, code] = codeOf({ model, real }, model.challenges[index]!.user, choice, pickCode);
    if (code === undefined) return undefined;
    const body = { challenge: real.challenges[index], code };
    return {
      send: ['POST', '/api/auth/login/second-factor', body],
      model: () => model.secondStep(index, shown),
    };
  },
);

/** What asks for the password and a code: other recovery codes, or the removal. */
const changeSecondFactor = bySession(
  'changeSecondFactor',
  (place, change: 'renew' | 'remove', choice: CodeChoice, pickCode: number) => {
    const { model, session } = place;
    const [shown, code] = codeOf(place, model.userOf(session), choice, pickCode);
    if (code === undefined) return undefined;
    const path = `${SECOND_FACTOR}/${change === 'remove' ? 'remove' : 'recovery-codes'}`;
    return {
      send: ['POST', path, { password: PASSWORD, code }],
      model: () => model.changeSecondFactor(session, change, shown),
    };
  },
);

const createOrg = bySession(
  'createOrg',
  ({ model, real, session }) => ({
    send: ['POST', '/api/orgs', { name: 'Model' }],
    model: () => model.createOrg(session, 'Model'),
    done: ({ org }) => real.orgIds.push(asString(asRecord(org)['id'])),
  }),
  // Few organizations, so that most requests meet in one that has several members.
  ({ orgs }) => orgs.length < 3,
);

const readOrg = ofOrg('readOrg', ({ model, real, session, org, path }, suffix: '' | '/members') => ({
  send: ['GET', `${path}${suffix}`],
  model: () => model.readOrg(session, org),
  done: (body) => {
    const { name, members } = model.orgs[org]!;
    const read = suffix === '' ? asRecord(body['org']) : body;
    if (suffix === '') demandEqual('name', [asString(read['name'])], [name]);
    const found = asRecords(read['members']).map((m) => `${asString(m['userId'])} ${asString(m['role'])}`);
    const wanted = [...members].map(([person, role]) => `${real.userId(person)} ${role}`);
    demandEqual('members', found, wanted);
  },
}));

const addMember = ofOrg('addMember', (at, person: string, role: Role) => ({
  send: ['POST', `${at.path}/members`, { email: at.real.email(person), role }],
  model: () => at.model.addMember(at.session, at.org, person, role),
}));

const changeRole = ofOrg('changeRole', (at, person: string, role: Role) => ({
  send: ['PATCH', `${at.path}/members/${at.real.userId(person)}`, { role }],
  model: () => at.model.changeRole(at.session, at.org, person, role),
}));

const removeMember = ofOrg('removeMember', (at, person: string) => ({
  send: ['DELETE', `${at.path}/members/${at.real.userId(person)}`],
  model: () => at.model.removeMember(at.session, at.org, person),
}));

const changeOrg = ofOrg('changeOrg', (at, change: 'leave' | 'delete' | 'restore') => ({
  send: change === 'delete' ? ['DELETE', at.path] : ['POST', `${at.path}/${change}`],
  model: () => at.model[`${change}Org`](at.session, at.org),
}));

const transferOrg = ofOrg('transferOrg', (at, person: string, leaves: boolean) => ({
  send: ['POST', `${at.path}/transfer`, { userId: at.real.userId(person), ...(leaves && { leave: true }) }],
  model: () => at.model.transfer(at.session, at.org, person, leaves),
}));

const renameOrg = ofOrg('renameOrg', (at, name: string) => ({
  send: ['PATCH', at.path, { name }],
  model: () => at.model.rename(at.session, at.org, name),
}));

function invitationIn(body: Body): { id: string; code: string } {
  const { id, code } = asRecord(body['invitation']);
  return { id: asString(id), code: asString(code) };
}

const invite = ofOrg('invite', (at, person: string, role: Role) => ({
  send: ['POST', `${at.path}/invitations`, { email: at.real.email(person), role, showCode: true }],
  model: () => at.model.invite(at.session, at.org, person, role),
  done: (body) => at.real.invitations.push(invitationIn(body)),
}));

const resendInvitation = ofInvitation('resendInvitation', (at) => ({
  send: ['POST', `${at.path}/resend`, { showCode: true }],
  model: () => at.model.changeInvitation(at.session, at.index, 'resend'),
  done: (body) => (at.real.invitations[at.index] = invitationIn(body)),
}));

const revokeInvitation = ofInvitation('revokeInvitation', (at) => ({
  send: ['DELETE', at.path],
  model: () => at.model.changeInvitation(at.session, at.index, 'revoke'),
}));

/** By the user of a session, with the code that is good or without any: nobody's email is verified. */
const answerInvitation = ofInvitation('answer', (at, answer: 'accept' | 'decline', hasCode: boolean) => {
  const { id, code } = at.real.invitations[at.index]!;
  return {
    send: ['POST', `/api/me/invitations/${id}/${answer}`, hasCode ? { code } : {}],
    model: () => at.model.answer(at.session, at.index, answer, hasCode),
  };
});

const registerInvited = request(
  'registerInvited',
  ({ invitations }) => invitations.length > 0,
  ({ model, real }, person: string, pick: number) => {
    const index = pick % model.invitations.length;
    const invitationCode = real.invitations[index]!.code;
    return {
      send: ['POST', '/api/auth/register', { ...real.credentials(person), invitationCode }],
      model: () => model.registerInvited(person, index),
      done: (body) => real.noteUser(person, body),
    };
  },
);

const SERVICES = ['billing', 'reports'] as const;

/**
 * A beginning from which the interesting requests are near: the people, one of them with a second factor, an organization of
 * three of them, and two services that each have a token of one.
 */
export async function populate(model: ReferenceModel, real: RealService): Promise<void> {
  const commands = [
    ...['ann', 'bob', 'cyd'].map((person) => register(person)),
    beginSecondFactor(1),
    confirmSecondFactor(1, true),
    login('bob', true),
    createOrg(0),
    addMember(0, 0, 'bob', 'admin'),
    addMember(0, 0, 'cyd', 'member'),
    ...SERVICES.map((service) => addService(service)),
    ...SERVICES.flatMap((service, index) => [issueCode(index, service), exchange(index, index)]),
  ];
  for (const one of commands) await one.run(model, real);
}

/**
 * Random sequences of all requests by several users; only those that are possible so far are run.
 *
 * @param replayPath of a failed run, so that it is replayed
 */
export function serviceCommands(
  maxCommands: number,
  replayPath: string | undefined,
): fc.Arbitrary<Iterable<Command>> {
  const pick = fc.nat({ max: 1000 });
  const person = fc.constantFrom('ann', 'bob', 'cyd', 'dee');
  const role = fc.constantFrom(...ROLES);
  const service = fc.constantFrom(...SERVICES);
  const own = 'own recovery code';
  const shown = fc.constantFrom<CodeChoice[]>('app', 'wrong digits', own, own, own, 'any recovery code');
  const mostly = fc.constantFrom(true, true, true, false);
  // Enabled as often as disabled; a secret is added as often as one is revoked.
  const changes: ServiceChange[] = ['rotate', 'rotate', 'revoke', 'revoke and end', 'disable', 'enable'];
  const exchanges = fc
    .tuple(pick, pick, fc.constantFrom(undefined, undefined, undefined, ...SERVICES))
    .map((parts) => exchange(...parts));
  const steps = fc.tuple(pick, shown, pick).map((parts) => secondStep(...parts));
  // An organization is restored as often as a deletion succeeds, so that few are deleted at any moment.
  const lives = fc
    .tuple(
      pick,
      pick,
      fc.constantFrom<('leave' | 'delete' | 'restore')[]>('leave', 'delete', 'restore', 'restore'),
    )
    .map((parts) => changeOrg(...parts));
  return fc.commands(
    [
      person.map((who) => register(who)),
      fc.tuple(person, fc.boolean()).map((parts) => login(...parts)),
      pick.map((session) => me(session)),
      pick.map((session) => issueCode(session)),
      pick.map((code) => exchange(code, undefined)),
      pick.map((session) => logout(session)),
      fc.tuple(service, fc.constantFrom(...changes)).map((parts) => changeService(...parts)),
      fc.tuple(pick, service).map((parts) => issueCode(...parts)),
      // As often as an exchange has a chance, since most codes are for one of two services.
      exchanges,
      exchanges,
      pick.map((session) => beginSecondFactor(session)),
      fc.tuple(pick, mostly).map((parts) => confirmSecondFactor(...parts)),
      steps,
      steps,
      fc
        .tuple(pick, fc.constantFrom<('renew' | 'remove')[]>('renew', 'remove'), shown, pick)
        .map((parts) => changeSecondFactor(...parts)),
      pick.map((session) => createOrg(session)),
      fc
        .tuple(pick, pick, fc.constantFrom<('' | '/members')[]>('', '/members'))
        .map((parts) => readOrg(...parts)),
      fc.tuple(pick, pick, person, role).map((parts) => addMember(...parts)),
      fc.tuple(pick, pick, person, role).map((parts) => changeRole(...parts)),
      fc.tuple(pick, pick, person).map((parts) => removeMember(...parts)),
      lives,
      lives,
      fc.tuple(pick, pick, person, fc.boolean()).map((parts) => transferOrg(...parts)),
      fc.tuple(pick, pick, fc.constantFrom('One', 'Two')).map((parts) => renameOrg(...parts)),
      fc.tuple(pick, pick, person, role).map((parts) => invite(...parts)),
      fc.tuple(pick, pick).map((parts) => resendInvitation(...parts)),
      fc.tuple(pick, pick).map((parts) => revokeInvitation(...parts)),
      fc
        .tuple(pick, pick, fc.constantFrom<('accept' | 'decline')[]>('accept', 'decline'), mostly)
        .map((parts) => answerInvitation(...parts)),
      fc.tuple(person, pick).map((parts) => registerInvited(...parts)),
    ],
    { maxCommands, size: 'max', ...(replayPath === undefined ? {} : { replayPath }) },
  );
}
