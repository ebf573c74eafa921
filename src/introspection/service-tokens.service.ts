import { Injectable } from '@nestjs/common';
import type { ServicePrincipal } from '../access/principal.js';
import { mustVerifyEmail } from '../access/route-access.js';
import type { LiveKey } from '../api-keys/live-keys.js';
import { type LiveToken, LiveTokens } from '../auth/authentication.guard.js';
import type { AccessTokenClaims, TokenRefusal } from '../auth/tokens/access-token.js';
import { TokenIssuer, tokenAudience, tokenUser } from '../auth/tokens/token-issuer.js';
import { actOf, type KeyTokenClaims, MAX_SERVICES, serviceSubject } from '../auth/tokens/ways.js';
import { Env } from '../config/env.js';
import { Problem } from '../problems/problem.js';
import { acceptsKeys, ServiceCallsRepository, stateOfWay } from '../services/service-calls.repository.js';
import { ACCESS_TOKEN_TYPE } from './service-tokens.requests.js';
import type { ServiceTokenResponse } from './service-tokens.responses.js';

class InvalidSubjectTokenError extends Problem {
  constructor(reason: TokenRefusal | 'unverified') {
    super('invalid_subject_token', { reason });
  }
}

class InvalidTargetError extends Problem {
  constructor(reason: 'call_not_allowed' | 'already_on_the_way' | 'way_too_long' | 'keys_not_accepted') {
    super('invalid_target', { reason });
  }
}

/** Tokens for calls from one service to another. Nothing is stored: each use of a token checks what it depends on. */
@Injectable()
export class ServiceTokens {
  constructor(
    private readonly tokens: LiveTokens,
    private readonly calls: ServiceCallsRepository,
    private readonly issuer: TokenIssuer,
    private readonly env: Env,
  ) {}

  async issueOwn({ name, epoch }: ServicePrincipal, audience: string): Promise<ServiceTokenResponse> {
    if (audience === name) throw new InvalidTargetError('already_on_the_way');
    const [call] = await this.calls.findStates([name, audience]);
    if (call === undefined) throw new InvalidTargetError('call_not_allowed');
    // The epoch is the one of the accepted secret: if that secret was revoked since, the token is dead at birth.
    const via_epoch = call.rest + epoch;
    const claims = { aud: audience, sub: serviceSubject(name), client_id: name, via_epoch };
    return { ...this.issuer.issueForCall(claims, epochSeconds()), ...logged(audience) };
  }

  async exchange(
    { name }: ServicePrincipal,
    audience: string,
    subjectToken: string,
  ): Promise<ServiceTokenResponse> {
    const found = await this.tokens.find(subjectToken, ({ aud }) => aud === name);
    if (found.kind !== 'live' && found.kind !== 'live_key')
      throw new InvalidSubjectTokenError(found.kind === 'refused' ? found.reason : 'claims');
    const { user, claims: subject } = found;
    if (mustVerifyEmail(user, this.env)) throw new InvalidSubjectTokenError('unverified');
    const now = epochSeconds();
    if (subject.exp - now < 1) throw new InvalidSubjectTokenError('expired');

    const way = [...user.via, name];
    if (way.includes(audience)) throw new InvalidTargetError('already_on_the_way');
    if (way.length > MAX_SERVICES) throw new InvalidTargetError('way_too_long');
    const states = await this.calls.findStates([...way, audience]);
    // Otherwise a call that was revoked and allowed again since the check above would revive a token.
    if (stateOfWay(states.slice(0, -1)) !== (subject.via_epoch ?? 0))
      throw new InvalidSubjectTokenError('call_ended');
    const via_epoch = stateOfWay(states);
    if (via_epoch === undefined) throw new InvalidTargetError('call_not_allowed');

    if (found.kind === 'live_key' && !acceptsKeys(states)) throw new InvalidTargetError('keys_not_accepted');
    const handedOn = { aud: audience, client_id: name, sub: subject.sub, act: actOf(way)!, via_epoch };
    const token = this.issuer.issueForCall({ ...handedOn, ...linksOf(subject) }, now, subject.exp);
    return { ...token, issued_token_type: ACCESS_TOKEN_TYPE, ...logged(audience, user.id) };
  }
}

type Links = Pick<AccessTokenClaims, 'sid' | 'login_sid' | 'branch_sid' | 'auth_time' | 'amr' | 'epoch'>;

/** Named one by one, so that no other claim of the subject token is handed on. */
function linksOf(subject: (LiveToken | LiveKey)['claims']): Links | Pick<KeyTokenClaims, 'key'> {
  if ('key' in subject) return { key: subject.key };
  const { sid, login_sid, branch_sid, auth_time, amr, epoch } = subject;
  return { sid, ...(login_sid && { login_sid }), ...(branch_sid && { branch_sid }), auth_time, amr, epoch };
}

function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

function logged(audience: string, userId?: string): object {
  return { [tokenAudience]: audience, [tokenUser]: userId };
}
