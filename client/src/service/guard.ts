import type { AuthenticationMethod, Role } from '../api.gen.ts';
import type { ReadyOptions } from './readiness.ts';
import type { Refusal } from './refusal.ts';
import type { AnyUser, InOrg, Wait } from './requirement.ts';
import type { TokenClaims } from './tokens.ts';

/** A user whose access token is valid now. */
export interface Admission {
  ok: true;
  user: { id: string; email: string; emailVerified: boolean };
  /** `amr`: how the user logged in; `authTime`: when, in epoch seconds */
  session: { id: string; amr: readonly AuthenticationMethod[]; authTime: number };
  claims: TokenClaims;
}

/** A user who is a member of the organization that was asked about. */
export type MemberAdmission = Admission & { role: Role };

/** The user of an exchanged one-time code, and the access token that the exchange opened. */
export type ExchangeAdmission = Admission & { token: string };

/** Decides who may use a service. Make one with `createGuard`, and one for tests with `fakeGuard`. */
export interface Guard {
  /**
   * Admits a user by the `Authorization` header of a request, with `orgId` only a member of that organization.
   *
   * @param authorization the header of the request
   * @returns what is known of the user, or what to answer: 401, 403 or 503
   * @throws TypeError for an unknown option or role, and for a role without `orgId`
   */
  authorize(authorization: string | undefined | null, options: InOrg): Promise<MemberAdmission | Refusal>;
  authorize(authorization: string | undefined | null, options?: AnyUser): Promise<Admission | Refusal>;
  /** Exchanges a one-time code that was issued for this service, with the verifier that this service made. */
  exchange(
    input: { code: string; codeVerifier: string },
    options?: Wait,
  ): Promise<ExchangeAdmission | Refusal>;
  /**
   * Revokes the session of the access token, which this guard refuses from then on. Other processes hear of it by the feed.
   *
   * @param authorization the header of the request
   * @returns what to answer if the session is not revoked: 401 for a token that is not valid or whose session ended, 503 if it is
   *   unknown whether Accounts has revoked the session
   */
  logOut(authorization: string | undefined | null, options?: Wait): Promise<{ ok: true } | Refusal>;
  /** Returns the role of any user, or undefined if the user is no member. */
  roleOf(
    userId: string,
    orgId: string,
    options?: Wait,
  ): Promise<{ ok: true; role: Role | undefined } | Refusal>;
  /**
   * Waits until the guard can admit users. Call it before your service takes requests.
   *
   * @throws GuardNotReadyError with all reasons: wrong credentials, missing scopes, another issuer, a wrong audience, or an
   *   Accounts that could not be reached within `timeoutMs`
   */
  ready(options?: ReadyOptions): Promise<void>;
  /** Whether the guard can decide now, for the readiness of your service. */
  isCurrent(): boolean;
  /** Ends everything. An open guard keeps the process alive. */
  close(): Promise<void>;
}
