import { Injectable } from '@nestjs/common';
import type { UserPrincipal } from '../access/principal.js';
import { mustVerifyEmail } from '../access/route-access.js';
import { type RefusedToken, refused } from '../auth/tokens/access-token.js';
import { type KeyTokenClaims, wayOf } from '../auth/tokens/ways.js';
import { Env } from '../config/env.js';
import { type Membership, MembersRepository } from '../orgs/state/members.repository.js';
import { activeRole } from '../orgs/state/policies.js';
import { LastUses } from '../services/last-uses.js';
import { acceptsKeys, ServiceCallsRepository, stateOfWay } from '../services/service-calls.repository.js';
import { hashApiKey, isApiKey } from './api-key-format.js';
import { ApiKeysRepository, type ApiKeyUse } from './api-keys.repository.js';

type KeyClaims = Omit<KeyTokenClaims, 'jti' | 'act' | 'via_epoch'> & Partial<KeyTokenClaims>;

/** An API key or a token whose way began with one. It has no session, so it opens no route of a user. */
export interface LiveKey {
  kind: 'live_key';
  claims: KeyClaims;
  user: Pick<UserPrincipal, 'id' | 'email' | 'emailVerified' | 'hasSecondFactor' | 'via'>;
  /** of the user in the organization that the key is limited to */
  membership: Membership | undefined;
}

/** Keeps nothing: a key has what its user has now, so nothing has to tell it about a change. */
@Injectable()
export class LiveKeys {
  constructor(
    private readonly keys: ApiKeysRepository,
    private readonly calls: ServiceCallsRepository,
    private readonly members: MembersRepository,
    private readonly uses: LastUses,
    private readonly env: Env,
  ) {}

  async find(
    key: string,
    isAskedFor: (claims: Pick<KeyClaims, 'aud'>) => boolean,
  ): Promise<LiveKey | RefusedToken> {
    if (!isApiKey(key)) return refused('malformed');
    const use = await this.keys.findUse(hashApiKey(key));
    if (!use || !isAskedFor({ aud: use.audience })) return refused('key_inactive');
    const claims = {
      iss: this.env.jwtIssuer,
      aud: use.audience,
      client_id: use.audience,
      sub: use.userId,
      iat: Math.floor(use.createdAt / 1000),
      exp: Math.floor(use.expiresAt / 1000),
    };
    const live = await this.findMember(use, claims, []);
    if (live.kind === 'live_key') this.uses.note(use, (...noted) => this.keys.noteUse(...noted));
    return live;
  }

  async findOfToken(claims: KeyTokenClaims): Promise<LiveKey | RefusedToken> {
    const { key, sub, act, aud } = claims;
    const use = await this.keys.findUseById(key.id);
    const via = wayOf(act)!;
    const isOfKey =
      use?.userId === sub && use.audience === via[0] && use.role === key.role && use.orgId === key.org;
    if (!isOfKey) return refused('key_inactive');
    const states = await this.calls.findStates([...via, aud]);
    if (stateOfWay(states) !== claims.via_epoch) return refused('call_ended');
    if (!acceptsKeys(states)) return refused('key_inactive');
    return this.findMember(use, claims, via);
  }

  private async findMember(
    use: ApiKeyUse,
    claims: Omit<KeyClaims, 'key'>,
    via: string[],
  ): Promise<LiveKey | RefusedToken> {
    const { id: keyId, userId: id, orgId: org, role, email } = use;
    const hasSecondFactor = use.secondFactorAt !== null;
    const membership = org === null ? undefined : await this.members.findMembership(org, id);
    if (org !== null && activeRole(membership, hasSecondFactor) === null) return refused('key_inactive');
    const user = { id, email, emailVerified: use.emailVerifiedAt !== null, hasSecondFactor, via };
    if (mustVerifyEmail(user, this.env)) return refused('key_inactive');
    return { kind: 'live_key', claims: { ...claims, key: { id: keyId, role, org } }, user, membership };
  }
}
