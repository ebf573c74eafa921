import type { Answer } from '../support/answer.js';
import type { Caller, RawRequest } from '../support/caller.js';
import { makeOperator, showSecondFactor } from '../support/operators.js';
import { anAccount, anEmail, anOrgOf, anUnknownId, aPassword } from '../support/personas.js';
import type { Service } from '../support/service.js';
import type { DocumentedOperation, DocumentReader } from './documented.js';
import { aServiceClient, basic } from '../support/services.js';

interface Request {
  by: Caller;
  body?: unknown;
  path?: Partial<Path>;
  query?: string;
}

export interface Answered {
  token: string;
  code: string;
  refreshToken: string;
  secret: string;
  user: { id: string };
  org: { id: string };
  sessions: { id: string }[];
  invitation: { id: string };
}

interface Path {
  orgId: string;
  userId: string;
  sessionId: string;
  invitationId: string;
  mailId: string;
  /** of a service */
  name: string;
}

/** Who is there once Ada has her organization, and Grace belongs to none. */
export interface Founders {
  orgId: string;
  ada: Caller;
  grace: Caller & { id: string };
}

/** Needs a limit of one organization for each user, and of one addition of an unknown email. */
export const SMALL_LIMITS = { MAX_ORGS_PER_USER: '1', RATE_LIMIT_LOOKUP: '1/1h' };

const FORM = 'application/x-www-form-urlencoded';

const MOST_WRITES = 50;
export const WRITES_LIMIT = { RATE_LIMIT_WRITES: `${MOST_WRITES}/1h` };

/** where nobody has begun yet */
const NOWHERE: Path = {
  orgId: anUnknownId(),
  userId: anUnknownId(),
  sessionId: anUnknownId(),
  invitationId: anUnknownId(),
  mailId: anUnknownId(),
  name: 'nobody',
};

/** Sends documented examples, and keeps the first answer of each operation with each status and code. */
const WRONG_SECRET = basic('billing', `acs_${'A'.repeat(43)}`);

export class ExampleAnswers {
  readonly answers = new Map<string, Answer<Answered>>();
  private path: Path = NOWHERE;
  private readonly anyone: Caller;
  private ada: Caller;
  private grace: Caller;

  constructor(
    private readonly reader: DocumentReader,
    private readonly service: Service,
  ) {
    this.anyone = service.anyone.with({ 'user-agent': 'Analytical Desktop/1.4 (Linux)' });
  }

  /** In an order in which each can be what its example says: Ada makes an organization, Grace is its member. */
  async collect(
    withAda: (id: string) => Promise<void>,
    withFounders: (founders: Founders) => Promise<void>,
  ): Promise<void> {
    const { user } = await this.signIn();
    await withAda(user.id);
    await this.passLoginOn();
    await this.fillOrg(withFounders);
    const own = { userId: user.id };
    await this.sendAll(['changeMemberRole', 'removeMember'], { by: this.ada, path: own });
    await this.sendAll(['getKeySet', 'getLive', 'getReady'], { by: this.anyone });
    await this.manageSessions();
    await this.failInGeneral();
    await this.send('removeMember', { by: this.ada });
    await this.exceedLimits();
    await this.disableAccount();
    await this.send('logOut', { by: this.ada, body: {} });
  }

  private async signIn(): Promise<Answered> {
    const registration = { ...this.exampleBody('register'), deviceName: "Ada's laptop" };
    const body = await this.send('register', { by: this.anyone, body: registration });
    this.ada = this.anyone.withToken(body.token);
    await this.send('exportOwnData', { by: this.ada });
    await this.send('login', { by: this.anyone });
    const other = { email: anEmail(), password: aPassword(), refresh: true };
    const { refreshToken } = (await this.anyone.post<Answered>('/api/auth/register', other)).body;
    await this.send('refresh', { by: this.anyone, body: { refreshToken } });
    await this.send('refresh', { by: this.anyone });
    await this.send('listOwnEvents', { by: this.ada, query: '?limit=1' });
    const grace = { email: 'grace@example.com', password: aPassword() };
    const answer = await this.anyone.post<Answered>('/api/auth/register', grace);
    this.grace = this.anyone.withToken(answer.body.token);
    this.path = { ...NOWHERE, userId: answer.body.user.id };
    return body;
  }

  private async passLoginOn(): Promise<void> {
    const { code } = await this.send('issueCode', { by: this.ada });
    const body = { ...this.exampleBody('exchangeCode'), code };
    const passedOn = await this.send('exchangeCode', { by: this.anyone, body });
    await this.sendAll(['listOwnEvents', 'exportOwnData'], { by: this.anyone.withToken(passedOn.token) });
    await this.send('exchangeCode', { by: this.anyone, body });
  }

  private async manageSessions(): Promise<void> {
    const { ada, anyone } = this;
    const { code } = (await ada.post<Answered>('/api/auth/code')).body;
    const { token } = (await anyone.post<Answered>('/api/auth/code/exchange', { code })).body;
    await this.sendAll(['endOwnSession', 'endOwnSessions', 'changePassword', 'deleteAccount'], {
      by: anyone.withToken(token),
    });
    await this.send('endOwnSession', { by: ada });
    await this.send('endOwnSessions', { by: ada, query: '?all=1' });
    await this.send('changePassword', {
      by: ada,
      body: { currentPassword: aPassword(), newPassword: aPassword() },
    });
    await this.send('deleteAccount', { by: ada });
    await this.send('deleteAccount', { by: ada, body: { password: aPassword() } });
    await this.sendAll(['changePassword', 'getAccount', 'endOwnSessions', 'listOwnSessions'], { by: ada });
    const { newPassword: password } = this.exampleBody('changePassword') as { newPassword: string };
    await anyone.post('/api/auth/login', { ...this.exampleBody('login'), password });
    const sessionId = (await ada.get<Answered>('/api/me/sessions')).body.sessions[0]!.id;
    await this.send('endOwnSession', { by: ada, path: { sessionId } });
    await this.send('logOut', { by: anyone, body: this.exampleBody('logOut', 'refreshToken') });
    await this.send('logOut', { by: anyone });
    await this.send('logOut', { by: anyone.withToken('no.such.token'), body: {} });
    await this.send('logOut', { by: anyone, body: { refreshToken: 0 } });
  }

  private async fillOrg(withFounders: (founders: Founders) => Promise<void>): Promise<void> {
    const { ada } = this;
    this.path.orgId = (await this.send('createOrg', { by: ada })).org.id;
    await this.send('createOrg', { by: ada });
    const { orgId, userId } = this.path;
    await withFounders({ orgId, ada, grace: Object.assign(this.grace, { id: userId }) });
    await this.sendAll(['addMember', 'addMember', 'changeMemberRole', 'getMember'], { by: ada });
    await this.send('listOrgEvents', { by: ada, query: '?limit=1' });
    await this.sendAll(['listOrgEvents', 'listOwnEvents'], { by: ada, query: '?limit=0' });
    await this.sendAll(['getMe', 'getOrg'], { by: ada });
    await this.send('getMe', { by: ada, query: '?include=members' });

    const [third, busy] = [await anAccount(this.service), await anAccount(this.service)];
    await anOrgOf(busy);
    for (const { email } of [third, busy])
      await this.send('addMember', { by: ada, body: { email, role: 'member' } });
    await this.send('listMembers', { by: ada, query: '?limit=2' });
    await this.send('listMembers', { by: ada, query: '?limit=0' });
  }

  /** What many operations answer, whatever they do. */
  private async failInGeneral(): Promise<void> {
    const outsider = await anAccount(this.service, 'outsider');
    const { ada, anyone, grace } = this;
    const bound = await this.withBoundToken();
    const requests: Record<string, (id: string) => Promise<unknown>> = {
      unauthorized: (id) => this.send(id, { by: anyone }),
      invalid_token: (id) => this.send(id, { by: anyone.withToken('no.such.token') }),
      validation_failed: (id) => this.failValidation(id),
      password_common: (id) => this.sendCommonPassword(id),
      malformed_json: (id) => this.sendText(id, 'application/json', '[]'),
      body_too_large: (id) => this.sendText(id, 'application/json', ' '.repeat(17_000)),
      unsupported_media_type: (id) => this.sendText(id, 'text/plain', 'text'),
      operator_required: (id) => this.send(id, { by: ada }),
      invalid_client: (id) => this.send(id, { by: anyone.with({ authorization: WRONG_SECRET }) }),
      insufficient_scope: (id) => this.send(id, { by: bound }),
      not_a_member: (id) => this.send(id, { by: outsider }),
      insufficient_role: (id) => this.send(id, { by: grace }),
      org_not_found: (id) => this.send(id, { by: ada, path: { orgId: anUnknownId() } }),
      member_not_found: (id) => this.send(id, { by: ada, path: { userId: anUnknownId() } }),
      precondition_failed: (id) => this.send(id, { by: ada.with({ 'if-match': '"0"' }) }),
      idempotency_key_reused: (id) => this.send(id, { by: ada.with({ 'idempotency-key': 'used' }) }),
    };
    const used = ada.with({ 'idempotency-key': 'used' });
    await used.patch(`/api/orgs/${this.path.orgId}/members/${this.path.userId}?remedy=true`, {
      role: 'member',
    });
    const pending = await ada.post<Answered>(`/api/orgs/${this.path.orgId}/invitations`, {
      email: anEmail(),
      role: 'member',
      showCode: true,
    });
    this.path.invitationId = pending.body.invitation.id;
    for (const [id, code] of this.failures()) {
      if (!this.answers.has(`${id} ${code}`)) await requests[code]?.(id);
    }
  }

  private async withBoundToken(): Promise<Caller> {
    const { name, authorization } = await aServiceClient(this.service.db, [], 'billing');
    const { code } = await this.send('issueCode', { by: this.ada, body: { audience: name } });
    const service = this.anyone.with({ authorization });
    return this.anyone.withToken(
      (await service.post<Answered>('/api/auth/code/exchange', { code })).body.token,
    );
  }

  /** By the body, where the operation has one. */
  private failValidation(id: string): Promise<unknown> {
    if (id === 'issueCode') return this.send(id, { by: this.ada, body: { codeChallengeMethod: 'S256' } });
    return this.send(
      id,
      this.exampleBody(id) ? { by: this.ada, body: {} } : { by: this.ada, query: '?dryRun=no' },
    );
  }

  private sendCommonPassword(id: string): Promise<unknown> {
    const body = this.exampleBody(id)!;
    const field = 'newPassword' in body ? 'newPassword' : 'password';
    // Ada's logins are counted.
    return this.send(id, { by: this.grace, body: { ...body, [field]: 'passwordpassword' } });
  }

  private failures(): [operationId: string, code: string][] {
    return this.reader.operations.flatMap((operation) =>
      this.reader
        .responsesOf(operation)
        .flatMap(([, response]) => this.reader.problemsOf(response))
        .map(([code]): [string, string] => [operation.operationId, code]),
    );
  }

  private async exceedLimits(): Promise<void> {
    const body = { email: anEmail(), role: 'member' };
    await this.sendAll(['addMember', 'addMember'], { by: this.ada, body });
    const wrong = { ...this.exampleBody('login'), password: aPassword() };
    while (!this.answers.has('login rate_limited'))
      await this.send('login', { by: this.anyone, body: wrong });
    while (!this.answers.has('register rate_limited')) await this.send('register', { by: this.anyone });
    while (!this.answers.has('exportOwnData rate_limited'))
      await this.send('exportOwnData', { by: this.ada });
    for (const id of ['changePassword', 'deleteAccount']) await this.send(id, { by: this.ada });
  }

  /** @param limited a service with WRITES_LIMIT and CODE_AUDIENCE=required */
  async exceedWrites(limited: Service): Promise<void> {
    const by = await anAccount(limited);
    await this.send('issueCode', { by, body: {} });
    for (let count = 1; count < MOST_WRITES; count += 1) await by.delete('/api/me/sessions');
    await makeOperator(limited, by);
    await showSecondFactor(limited, by);
    for (const [id, code] of this.failures()) {
      if (code === 'rate_limited' && !this.answers.has(`${id} ${code}`)) await this.send(id, { by });
    }
  }

  async discover(anyone: Caller): Promise<void> {
    for (const id of ['getServerMetadata', 'getOpenidConfiguration']) await this.send(id, { by: anyone });
  }

  private async disableAccount(): Promise<void> {
    const deleted = await anAccount(this.service);
    await this.send('deleteAccount', { by: deleted, body: { password: deleted.password } });
    const disabled = await anAccount(this.service);
    await this.service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [disabled.id]);
    const { email, password } = disabled;
    await this.send('login', { by: this.anyone, body: { email, password } });
  }

  /** One after the other. */
  async sendAll(operationIds: readonly string[], request: Request): Promise<void> {
    for (const id of operationIds) await this.send(id, request);
  }

  async send(operationId: string, request: Request): Promise<Answered> {
    const { by, query = '', body = this.exampleBody(operationId) } = request;
    const { method, path, requestBody } = this.operation(operationId);
    const at = path.replace(/\{(\w+)\}/g, (_, name: keyof Path) => request.path?.[name] ?? this.path[name]);
    const answer =
      FORM in (requestBody?.content ?? {})
        ? by.send<Answered>(method, at + query, formOf(body))
        : by.sendJson<Answered>(method, at + query, body);
    return this.keep(operationId, await answer);
  }

  private async sendText(operationId: string, type: string, body: string): Promise<void> {
    const { method, path } = this.operation(operationId);
    const at = path.replace(/\{(\w+)\}/g, (_, name: keyof Path) => this.path[name]);
    this.keep(operationId, await this.ada.send(method, at, { headers: { 'content-type': type }, body }));
  }

  keep(operationId: string, answer: Answer<Answered>): Answered {
    const name = `${operationId} ${answer.status < 400 ? answer.status : (answer.body as { code?: string }).code}`;
    if (!this.answers.has(name)) this.answers.set(name, answer);
    return answer.body;
  }

  /** Changes take a body with a reason. */
  operationsOf(tag: string, isChange?: true): string[] {
    return this.reader.operations
      .filter(({ tags = [], method }) => tags.includes(tag) && (!isChange || method !== 'GET'))
      .map(({ operationId }) => operationId);
  }

  private operation(id: string): DocumentedOperation {
    return this.reader.operations.find(({ operationId }) => operationId === id)!;
  }

  private exampleBody(operationId: string, name?: string): object | undefined {
    return this.reader.requestExampleOf(this.operation(operationId), name) as object | undefined;
  }
}

function formOf(body: unknown): RawRequest {
  const parameters = new URLSearchParams(body as Record<string, string>);
  return { headers: { 'content-type': FORM }, body: parameters.toString() };
}
