import type { AuthenticationMethod, Role } from '../api.gen.ts';
import type { CallToken } from './call-tokens.ts';
import type { ApiKey, KeyClaims, ServiceClaims, TokenClaims } from './claims.ts';
import type { ReadyOptions } from './readiness.ts';
import type { Refusal } from './refusal.ts';
import type { AnyUser, ExchangeOptions, FromServices, InOrg, OrKey, Wait } from './requirement.ts';

/** A user whose access token is valid now. `tokenFor` accepts the object itself, and no copy of it. */
export interface Admission {
  ok: true;
  user: { id: string; email: string; emailVerified: boolean };
  /** `amr` has the methods of the login, `authTime` its time in epoch seconds. */
  session: { id: string; amr: readonly AuthenticationMethod[]; authTime: number };
  key?: undefined;
  claims: TokenClaims;
  /** The services that called for the user, the latest last. Empty if the user came directly. */
  via: readonly string[];
}

/** An API key that acts as `user`. It has no session. */
export interface KeyAdmission extends Pick<Admission, 'ok' | 'user' | 'via'> {
  key: ApiKey;
  session?: undefined;
  claims: KeyClaims;
}

/** A service that calls for itself. */
export interface ServiceAdmission {
  ok: true;
  service: { name: string };
  claims: ServiceClaims;
}

/** A user who is a member of the organization `orgId`. */
export type MemberAdmission = Admission & { role: Role };

/** An API key that acts as a member of the organization `orgId`, with the lower role of both. */
export type MemberKeyAdmission = KeyAdmission & { role: Role };

/** The user of an exchanged one-time code, and the access token that the exchange opened. */
export type ExchangeAdmission = Admission & { token: string };

/** Decides who may use a service. Create it with `createGuard`, or with `fakeGuard` for tests. */
export interface Guard {
  /**
   * Admits a user by the `Authorization` header of a request. With `orgId`, admits only members of that organization. With
   * `keys`, also admits API keys.
   *
   * @param authorization the header of the request
   * @returns the user with the session or the API key, or the refusal to send: 401, 403 or 503
   * @throws TypeError for an unknown option or role, and for a role without `orgId`
   */
  authorize(authorization: string | undefined | null, options: InOrg): Promise<MemberAdmission | Refusal>;
  authorize(
    authorization: string | undefined | null,
    options: OrKey<InOrg>,
  ): Promise<MemberAdmission | MemberKeyAdmission | Refusal>;
  authorize(authorization: string | undefined | null, options?: AnyUser): Promise<Admission | Refusal>;
  authorize(
    authorization: string | undefined | null,
    options: OrKey<AnyUser>,
  ): Promise<Admission | KeyAdmission | Refusal>;
  /**
   * Exchanges a one-time code that was issued for this service, with the verifier that this service created. If a response of
   * Accounts is lost, the guard repeats the exchange.
   */
  exchange(
    input: { code: string; codeVerifier: string },
    options?: ExchangeOptions,
  ): Promise<ExchangeAdmission | Refusal>;
  /**
   * Revokes the session of the access token, which this guard rejects from then on. Other processes learn it from the feed.
   *
   * @param authorization the header of the request
   * @returns a refusal to send if the session was not revoked: 401 if the token is not valid or its session ended, 503 if
   *   Accounts may or may not have revoked the session
   */
  logOut(authorization: string | undefined | null, options?: Wait): Promise<{ ok: true } | Refusal>;
  /**
   * Admits a service that calls for itself, by the `Authorization` header of a request.
   *
   * @returns the service, or the refusal to send: 401, 403 or 503
   * @throws TypeError for an unknown option, and for a missing or empty `from`
   */
  authorizeService(
    authorization: string | undefined | null,
    options: FromServices,
  ): Promise<ServiceAdmission | Refusal>;
  /**
   * Returns an access token with which this service calls another one for the user. An operator has to allow the call. The guard
   * keeps the token until 30 seconds before it expires, or until a part of it ends.
   *
   * @param audience the name of the service to call
   * @param admission what this guard returned for the user
   * @throws TypeError for anything but an admission of a guard, such as a copy of one
   */
  tokenFor(
    audience: string,
    admission: Admission | KeyAdmission,
    options?: Wait,
  ): Promise<CallToken | Refusal>;
  /** Returns an access token with which this service calls another one for itself, and for no user. */
  ownTokenFor(audience: string, options?: Wait): Promise<CallToken | Refusal>;
  /** Returns the role of any user, or undefined if the user is not a member. */
  roleOf(
    userId: string,
    orgId: string,
    options?: Wait,
  ): Promise<{ ok: true; role: Role | undefined } | Refusal>;
  /**
   * Waits until the guard can admit users. Call it before your service accepts requests.
   *
   * @throws GuardNotReadyError with all reasons: wrong credentials, missing scopes, another issuer, a wrong audience, or an
   *   Accounts that could not be reached within `timeoutMs`
   */
  ready(options?: ReadyOptions): Promise<void>;
  /** Returns whether the guard can decide now, for the readiness check of your service. */
  isCurrent(): boolean;
  /** Stops the guard, which otherwise keeps the process alive. */
  close(): Promise<void>;
}
