import { Injectable } from '@nestjs/common';
import type * as Library from 'oauth4webapi';
import { Env } from '../../config/env.js';
import { Problem } from '../../problems/problem.js';
import { rootCause } from '../../telemetry/logging/logger.js';
import { providerLoginEnded } from '../../telemetry/metrics/measurements.js';
import { challengeOf, newCode } from '../sessions/codes.service.js';
import { type ConfirmedUser, needsUserInfo, type ProviderRefusal, readClaims } from './claims.js';
import {
  isAllowedEndpoint,
  ProviderFetch,
  type ProviderRequest,
  UnusableAnswerError,
} from './provider-fetch.js';
import { callbackUri, type ProviderSettings } from './provider-settings.js';
import type { Provider } from './providers.repository.js';

/** What a login needs of a provider, read from its row for each login. */
export interface ProviderAccess extends Pick<Provider, 'name' | 'issuer' | 'clientId'> {
  /** decrypted */
  secret: string;
  settings: ProviderSettings;
}

/** What Accounts remembers of a login, to check the response of the provider. */
export interface LoginChecks {
  codeVerifier: string;
  nonce: string;
  /** seconds */
  maxAge?: number | undefined;
  startedAt: number;
}

export type ProviderOutcome =
  | ({ kind: 'accepted' } & ConfirmedUser)
  | ProviderRefusal
  | { kind: 'code_used' };

type CheckResult = { ok: true } | { ok: false; reason: string };

export interface ProviderTest {
  /** as in the metadata; undefined if discovery failed */
  issuer: string | undefined;
  discovery: CheckResult;
  keys: CheckResult;
  client: CheckResult;
  announcesEmailVerified: boolean;
  announcesAuthTime: boolean;
}

interface KnownServer {
  server: Library.AuthorizationServer;
  /** one object for all logins, so that the library shares their requests for keys */
  options: { [Library.customFetch]: ProviderRequest; [Library.allowInsecureRequests]: boolean };
}

const METADATA_MS = 3_600_000;
const FAILURE_MS = 10_000;
const COMPLETE_MS = 10_000;
const FAULTS = new Set(['server_error', 'temporarily_unavailable']);
const NOT_TRIED: CheckResult = { ok: false, reason: 'not tried' };

export class ProviderUnavailableError extends Problem {
  /** @param reason only logged */
  constructor(reason: string, cause?: unknown) {
    super('provider_unavailable', { headers: { 'Retry-After': '10' }, reason, cause });
  }
}

/** Asks OpenID Connect providers. The library is loaded by the first login at a provider. */
@Injectable()
export class ProviderClient {
  private readonly outgoing: ProviderFetch;
  private readonly known = new Map<string, { server: Promise<KnownServer>; until: number }>();

  constructor(private readonly env: Env) {
    this.outgoing = new ProviderFetch(env.production);
  }

  async authorizationUrl(
    { name, issuer, clientId, settings }: ProviderAccess,
    { nonce, codeVerifier, maxAge }: LoginChecks,
    { state, loginHint }: { state: string; loginHint?: string | undefined },
  ): Promise<string> {
    try {
      const { server } = await this.discover(issuer);
      const url = new URL(server.authorization_endpoint!);
      const parameters = {
        ...Object.fromEntries(new URLSearchParams(settings.params ?? '')),
        client_id: clientId,
        response_type: 'code',
        redirect_uri: this.callbackOf(name),
        scope: settings.scopes,
        state,
        nonce,
        code_challenge: challengeOf(codeVerifier),
        code_challenge_method: 'S256',
        ...(loginHint !== undefined && { login_hint: loginHint }),
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
      };
      for (const [parameter, value] of Object.entries(parameters)) url.searchParams.set(parameter, value);
      return url.href;
    } catch (error) {
      providerLoginEnded.emit({ provider: name, outcome: 'provider_unavailable' });
      throw new ProviderUnavailableError(reasonOf(error, await library()), error);
    }
  }

  /**
   * May take 10 s. Throws nothing that a provider can cause.
   *
   * @param answer the query of the callback, whose `state` is the one that Accounts sent
   */
  async complete(
    provider: ProviderAccess,
    answer: URLSearchParams,
    login: LoginChecks,
  ): Promise<ProviderOutcome> {
    const oauth = await library();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new UnusableAnswerError('no answer in time')), COMPLETE_MS);
    });
    try {
      return await Promise.race([this.confirm(oauth, provider, answer, login), late]);
    } catch (error) {
      if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant')
        return { kind: 'code_used' };
      const isDenial = error instanceof oauth.AuthorizationResponseError && !FAULTS.has(error.error);
      return {
        kind: 'refused',
        error: isDenial ? 'provider_denied' : 'provider_unavailable',
        reason: reasonOf(error, oauth),
      };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads the metadata again, whatever is known. */
  async test(provider: ProviderAccess): Promise<ProviderTest> {
    const oauth = await library();
    const { issuer } = provider;
    this.known.delete(issuer);
    const attempt = async (work: () => Promise<unknown>): Promise<CheckResult> => {
      try {
        await work();
        return { ok: true };
      } catch (error) {
        return { ok: false, reason: reasonOf(error, oauth) };
      }
    };
    const discovery = await attempt(() => this.discover(issuer));
    const { server } = discovery.ok ? await this.discover(issuer) : {};
    const announces = (claim: string): boolean => [server?.claims_supported].flat().includes(claim);
    return {
      issuer: server?.issuer,
      discovery,
      keys: server ? await attempt(() => this.requireKeys(server)) : NOT_TRIED,
      client: server ? await this.tryMadeUpCode(provider, server) : NOT_TRIED,
      announcesEmailVerified: announces('email_verified'),
      announcesAuthTime: announces('auth_time'),
    };
  }

  private async confirm(
    oauth: typeof Library,
    provider: ProviderAccess,
    query: URLSearchParams,
    { nonce, codeVerifier, maxAge, startedAt }: LoginChecks,
  ): Promise<ProviderOutcome> {
    const deadline = performance.now() + COMPLETE_MS;
    const { server, options } = await this.discover(provider.issuer);
    const client = { client_id: provider.clientId };
    const own = { ...options, [oauth.customFetch]: this.outgoing.until(deadline, provider.issuer) };
    const parameters = oauth.validateAuthResponse(server, client, query, query.get('state')!);
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authenticationOf(oauth, server, provider.secret),
      parameters,
      this.callbackOf(provider.name),
      codeVerifier,
      own,
    );
    const checks = { expectedNonce: nonce, requireIdToken: true };
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, checks);
    // The library checks no signature of a token endpoint by itself.
    await oauth.validateApplicationLevelSignature(server, answer, options);
    const idToken = oauth.getValidatedIdTokenClaims(tokens)!;

    const { settings } = provider;
    const { sessionMaxAge } = this.env;
    const rules = { settings, now: Date.now(), sessionMaxAge, maxAge, startedAt };
    const user = readClaims(idToken, undefined, rules);
    if (user.kind === 'refused' || !server.userinfo_endpoint || !needsUserInfo(idToken, rules)) return user;

    const info = await oauth.userInfoRequest(server, client, tokens.access_token, own);
    const userInfo = await oauth.processUserInfoResponse(server, client, idToken.sub, info);
    if (info.headers.get('content-type')?.startsWith('application/jwt'))
      await oauth.validateApplicationLevelSignature(server, info, options);
    return readClaims(idToken, userInfo, rules);
  }

  /** Concurrent logins share one request. A failure is kept too, so that logins at a provider that is down end at once. */
  private discover(issuer: string): Promise<KnownServer> {
    const known = this.known.get(issuer);
    if (known && performance.now() < known.until) return known.server;
    const entry = { server: this.readMetadata(issuer), until: Number.POSITIVE_INFINITY };
    this.known.set(issuer, entry);
    const keepFor = (ms: number) => (): void => void (entry.until = performance.now() + ms);
    entry.server.then(keepFor(METADATA_MS), keepFor(FAILURE_MS));
    return entry.server;
  }

  private async readMetadata(issuer: string): Promise<KnownServer> {
    const oauth = await library();
    const { production } = this.env;
    const options = {
      [oauth.customFetch]: this.outgoing.shared(issuer),
      [oauth.allowInsecureRequests]: !production,
    };
    const url = new URL(issuer);
    const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
    const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint = jwks_uri } = server;
    for (const endpoint of [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint])
      if (typeof endpoint !== 'string' || !isAllowedEndpoint(endpoint, production))
        throw new UnusableAnswerError('an endpoint of the metadata is absent or not https');
    return { server, options };
  }

  private async requireKeys({ issuer, jwks_uri }: Library.AuthorizationServer): Promise<void> {
    const response = await this.outgoing.shared(issuer)(jwks_uri!, {});
    if (response.status !== 200) throw new UnusableAnswerError(`status ${response.status}`);
    const { keys } = (await response.json()) as { keys?: { use?: unknown }[] };
    if (!Array.isArray(keys) || !keys.some(({ use = 'sig' }) => use === 'sig'))
      throw new UnusableAnswerError('no key for signatures');
  }

  /** A provider that knows the client and its secret refuses the code itself. */
  private async tryMadeUpCode(
    provider: ProviderAccess,
    { issuer }: Library.AuthorizationServer,
  ): Promise<CheckResult> {
    const made = newCode();
    const query = new URLSearchParams({ code: made, state: made, iss: issuer });
    const login = { nonce: made, codeVerifier: made, startedAt: Date.now() };
    const outcome = await this.complete(provider, query, login);
    if (outcome.kind === 'code_used') return { ok: true };
    return { ok: false, reason: outcome.kind === 'refused' ? outcome.reason : 'it accepted a made-up code' };
  }

  private callbackOf(providerName: string): string {
    const uri = callbackUri(this.env.jwtIssuer, providerName);
    if (uri === undefined) throw new UnusableAnswerError('JWT_ISSUER is not a URL');
    return uri;
  }
}

function library(): Promise<typeof Library> {
  return import('oauth4webapi');
}

function authenticationOf(
  oauth: typeof Library,
  server: Library.AuthorizationServer,
  secret: string,
): Library.ClientAuth {
  return server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret);
}

/** For the log. The texts of the library contain no values; what a provider or a browser chose is cut to a word. */
function reasonOf(error: unknown, oauth: typeof Library): string {
  if (error instanceof UnusableAnswerError) return error.message;
  if (error instanceof oauth.AuthorizationResponseError)
    return `the callback has the error ${word(error.error)}`;
  if (error instanceof oauth.ResponseBodyError) return `the token endpoint answered ${word(error.error)}`;
  if (error instanceof oauth.WWWAuthenticateChallengeError) return `status ${error.status}`;
  if (!(error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError))
    return rootCause(error);
  if (error.code === oauth.JWT_TIMESTAMP_CHECK) return `clock: ${error.message}`;
  return error.cause instanceof Response ? `${error.message}, status ${error.cause.status}` : error.message;
}

function word(text: string): string {
  return /^[\w.-]{1,40}$/.test(text) ? text : 'no word';
}
