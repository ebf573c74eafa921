import { Injectable } from '@nestjs/common';
import type { UserActor, UserPrincipal } from '../access/principal.js';
import { InvalidTokenError } from '../auth/tokens/access-token.js';
import { Env } from '../config/env.js';
import { type Transaction, UNCHANGED } from '../database/transactions/transactions.js';
import type { OkResponse } from '../http/fields.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { timeOrNull, timeText } from '../identifiers/text.js';
import { Mails } from '../mail/mails.js';
import { MembersReader } from '../orgs/members/members-reader.js';
import { ACTOR } from '../orgs/state/members.repository.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { requireRole } from '../orgs/state/policies.js';
import { Problem, ValidationProblem } from '../problems/problem.js';
import type { Versioned } from '../requests/entity-tags.js';
import type { Write } from '../requests/write.js';
import { acceptsApiKeys } from '../services/service-secrets.js';
import { ServicesRepository } from '../services/services.repository.js';
import { UserChanges } from '../users/user-changes.js';
import { hashApiKey, newApiKey } from './api-key-format.js';
import { keyNotice } from './api-key-revocations.js';
import {
  type ApiKey,
  ApiKeysRepository,
  type ListedApiKey,
  type NewApiKeyRow,
} from './api-keys.repository.js';
import { type CreateApiKeyRequest, expiryOf } from './api-keys.requests.js';
import type {
  ApiKeyDto,
  ApiKeysResponse,
  CreatedApiKeyResponse,
  CreatedOrgApiKeyResponse,
  OrgApiKeyDto,
  OrgApiKeysResponse,
} from './api-keys.responses.js';

const MAX_OWN_KEYS = 50;
const MAX_ORG_KEYS = 100;

const UNACCEPTED_AUDIENCE = 'must be the name of a service that accepts API keys';

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly userChanges: UserChanges,
    private readonly orgChanges: OrgChanges,
    private readonly keys: ApiKeysRepository,
    private readonly members: MembersReader,
    private readonly services: ServicesRepository,
    private readonly mails: Mails,
    private readonly env: Env,
  ) {}

  async createOwn(
    actor: UserActor,
    epoch: number,
    request: CreateApiKeyRequest,
  ): Promise<CreatedApiKeyResponse> {
    const done = await this.userChanges.inUser({ actor }, actor.id, async (tx, user) => {
      // A session that was ended meanwhile, as by a reset for an email that was never verified, leaves no key behind.
      if (user.authEpoch !== epoch) return UNCHANGED;
      await this.requireAccepted(tx, request);
      // The raise of the user's revision makes the count exact, on two nodes too.
      if ((await this.keys.countOwn(tx, user.id)) >= MAX_OWN_KEYS) throw new Problem('too_many_keys');

      const { key, row } = this.newKey(request, { userId: user.id, orgId: null });
      await this.keys.insert(tx, row);
      await user.record({ type: 'key.created', data: createdData(row) });
      await this.mails.notify(tx, keyNotice('key_created', row, user.email));
      return { apiKey: apiKeyView({ ...row, state: 'active', lastUsedAt: null }), key };
    });
    if (done.kind !== 'done') throw new InvalidTokenError('session_ended');
    return done.answer;
  }

  async listOwn(userId: string): Promise<ApiKeysResponse> {
    const apiKeys = (await this.keys.listOwn(userId)).map(apiKeyView);
    return { apiKeys, audiences: await this.findAudiences() };
  }

  async revokeOwn(actor: UserActor, id: string): Promise<void> {
    const { kind } = await this.userChanges.inUser({ actor }, actor.id, async (tx, user) => {
      if (!(await this.keys.deleteOwn(tx, user.id, id))) return UNCHANGED;
      return user.record({ type: 'key.revoked', data: { keyId: id, reason: 'revoked' } });
    });
    if (kind !== 'done') throw new Problem('key_not_found');
  }

  async createOfOrg(
    write: Write,
    { id: userId, epoch }: UserPrincipal,
    orgId: string,
    request: CreateApiKeyRequest,
  ): Promise<Versioned<CreatedOrgApiKeyResponse>> {
    return this.orgChanges.inOrg(write, orgId, ACTOR, async (tx, org, { actorRole }) => {
      // A write, because a password reset on another node of a cluster raises the user and not the organization.
      const user = await this.userChanges.raise(tx, write.actor, userId);
      if (user?.authEpoch !== epoch) throw new InvalidTokenError('session_ended');
      requireRole(actorRole, 'admin');
      requireRole(actorRole, request.role ?? 'member');
      await this.requireAccepted(tx, request);
      if ((await this.keys.countOfOrg(tx, orgId)) >= MAX_ORG_KEYS) throw new Problem('too_many_keys');

      const { key, row } = this.newKey(request, { userId, orgId });
      await this.keys.insert(tx, row);
      await org.record({ type: 'key.created', userId, data: createdData(row) });
      const { email } = user;
      await this.mails.notify(tx, keyNotice('key_created', row, email));
      return { apiKey: orgApiKeyView({ ...row, email, state: 'active', lastUsedAt: null }), key };
    });
  }

  async listOfOrg(orgId: string, caller: UserPrincipal): Promise<OrgApiKeysResponse> {
    const apiKeys = (await this.keys.listOfOrg(orgId)).map(orgApiKeyView);
    const audiences = await this.findAudiences();
    await this.members.requireReader(orgId, caller, 'admin');
    return { apiKeys, audiences };
  }

  async revokeOfOrg(write: Write, orgId: string, id: string): Promise<Versioned<OkResponse>> {
    // The user of an API key never changes.
    const key = await this.keys.findById(id);
    return this.orgChanges.inOrg(write, orgId, ACTOR, async (tx, org, { actorRole }) => {
      requireRole(actorRole, 'admin');
      if (!key || !(await this.keys.deleteOfOrg(tx, orgId, id))) throw new Problem('key_not_found');
      await org.record({ type: 'key.revoked', userId: key.userId, data: { keyId: id, reason: 'revoked' } });
      return { ok: true };
    });
  }

  /** @throws ValidationProblem */
  private async requireAccepted(
    tx: Transaction,
    { audience }: Pick<CreateApiKeyRequest, 'audience'>,
  ): Promise<void> {
    const service = await this.services.find(audience, tx);
    if (service?.disabledAt === null && acceptsApiKeys(service.allow)) return;
    throw new ValidationProblem([{ field: 'audience', message: UNACCEPTED_AUDIENCE }]);
  }

  private async findAudiences(): Promise<string[]> {
    const enabled = await this.services.findEnabled();
    return enabled.filter(({ allow }) => acceptsApiKeys(allow)).map(({ name }) => name);
  }

  private newKey(
    request: CreateApiKeyRequest,
    owner: Pick<ApiKey, 'userId' | 'orgId'>,
  ): { key: string; row: NewApiKeyRow } {
    const key = newApiKey();
    const createdAt = Date.now();
    const { name, audience, role = 'member' } = request;
    const expiresAt = expiryOf(request, createdAt, this.env.apiKeyMaxAge);
    const row = { id: newEntityId(), hash: hashApiKey(key), ...owner, audience, role, name, createdAt };
    return { key, row: { ...row, expiresAt } };
  }
}

function createdData({ id, audience, role }: NewApiKeyRow) {
  return { keyId: id, service: audience, role };
}

function apiKeyView(key: Omit<ListedApiKey, 'email'>): ApiKeyDto {
  const { id, name, audience, role, state, createdAt, expiresAt, lastUsedAt } = key;
  const times = { createdAt: timeText(createdAt), expiresAt: timeText(expiresAt) };
  return { id, name, audience, role, state, ...times, lastUsedAt: timeOrNull(lastUsedAt) };
}

function orgApiKeyView(key: ListedApiKey): OrgApiKeyDto {
  return { ...apiKeyView(key), user: { id: key.userId, email: key.email } };
}
