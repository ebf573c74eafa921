import { Injectable, Logger } from '@nestjs/common';
import type { SignInOrigin } from '../../access/principal.js';
import { Env } from '../../config/env.js';
import { timeText } from '../../identifiers/text.js';
import { Problem } from '../../problems/problem.js';
import { providerLoginEnded } from '../../telemetry/metrics/measurements.js';
import { hashCode, newCode } from '../sessions/codes.service.js';
import { isSameNetwork, placeOf } from '../sessions/known-places.repository.js';
import { EncryptedSecrets } from '../tokens/derived-keys.js';
import { KeyFileWatch } from '../tokens/key-file-watch.js';
import { KeyRing } from '../tokens/signing-keys.js';
import type { ProviderLoginError } from './claims.js';
import {
  type LoginChecks,
  type ProviderAccess,
  ProviderClient,
  ProviderUnavailableError,
} from './provider-client.js';
import { ASKED_TTL_MS, ProviderLoginsRepository } from './provider-logins.repository.js';
import { readSettings } from './provider-settings.js';
import { type Provider, ProvidersRepository } from './providers.repository.js';
import type { StartProviderLoginRequest } from './providers.requests.js';
import type { ProviderLoginStart } from './providers.responses.js';

export class InvalidProviderLoginError extends Problem {
  /** @param reason only logged */
  constructor(reason: string) {
    super('invalid_provider_login', { reason });
  }
}

type CallbackError = ProviderLoginError | 'network_differs';

/** A login between its start and the callback. */
interface LoginState extends LoginChecks {
  /** of the program, which has a verifier of its own */
  codeChallenge: string;
  /** what the program compares */
  programState: string;
  /** undefined if the browser shows the code */
  redirectUri?: string;
  address: string;
  /** name of the program, as in known places */
  program: string;
}

/** What the browser of the user gets. */
export type CallbackAnswer = { kind: 'redirect'; url: string } | { kind: 'page'; text: string };

const STATE = /^[\w-]{43}\.[\w-]{16}\.[\w-]{22,2000}$/;
const LOGIN_TTL_MS = 600_000;
const CODE_TTL_MS = 60_000;

const SENTENCES: Record<CallbackError, string> = {
  provider_denied: 'Your provider refused the login.',
  provider_unavailable: 'Your provider does not respond right now. Start again later in your program.',
  insufficient_user_authentication:
    'You logged in at your provider too long ago. Start again in your program.',
  network_differs:
    'This browser and your program are in different networks. Start again with both in one network.',
};

/** A login at a provider, until the provider has confirmed the user. Neither user nor session exists by then. */
@Injectable()
export class ProviderLoginsService {
  private readonly logger = new Logger('ProviderLogins');
  private readonly secrets: EncryptedSecrets;
  /** The provider returns a login as its `state`: an anonymous request writes no row. */
  private readonly states: EncryptedSecrets;

  constructor(
    private readonly providers: ProvidersRepository,
    private readonly logins: ProviderLoginsRepository,
    private readonly client: ProviderClient,
    private readonly env: Env,
    private readonly keyFile: KeyFileWatch,
    keys: KeyRing,
  ) {
    this.secrets = new EncryptedSecrets(keys, 'provider secrets');
    this.states = new EncryptedSecrets(keys, 'provider logins');
  }

  /** Writes nothing: the login is in the `state` of the URL. @throws provider_unavailable */
  async start(
    name: string,
    { codeChallenge, redirectUri, loginHint, maxAge }: StartProviderLoginRequest,
    origin: SignInOrigin,
  ): Promise<ProviderLoginStart> {
    if (redirectUri === undefined && this.env.crossDeviceLogin === 'off')
      throw new Problem('cross_device_login_off');
    const provider = await this.providers.findEnabled(name);
    if (!provider) throw new Problem('provider_not_found');

    const access = await this.accessTo(provider);
    if (!access) throw new ProviderUnavailableError('no key');
    const login: LoginState = {
      codeVerifier: newCode(),
      nonce: newCode(),
      programState: newCode(),
      codeChallenge,
      redirectUri,
      maxAge,
      address: origin.address,
      program: placeOf(origin).agent,
      startedAt: Date.now(),
    };
    // The state of one provider does not open at the callback of another.
    const state = this.states.encrypt(Buffer.from(JSON.stringify(login)), provider.id);
    const authorizationUrl = await this.client.authorizationUrl(access, login, { state, loginHint });
    const expiresAt = timeText(login.startedAt + LOGIN_TTL_MS);
    return { authorizationUrl, state: login.programState, expiresAt };
  }

  /** Call it outside of any transaction, because the provider may take 10 s. @throws InvalidProviderLoginError */
  async receive(name: string, query: URLSearchParams, origin: SignInOrigin): Promise<CallbackAnswer> {
    const text = stateOfAnswer(query);
    const provider = text === undefined ? null : await this.providers.findEnabled(name);
    if (!provider) throw new InvalidProviderLoginError('malformed');
    const state = await this.readState(text!, provider.id);
    if (!state) throw new InvalidProviderLoginError('state');
    const { crossDeviceLogin } = this.env;
    if (state.redirectUri === undefined && crossDeviceLogin === 'off')
      throw new InvalidProviderLoginError('cross_device_login_off');

    const access = await this.accessTo(provider);
    const mustShareNetwork =
      access?.settings.sameNetwork ||
      (state.redirectUri === undefined && crossDeviceLogin === 'same-network');
    if (mustShareNetwork && !isSameNetwork(state.address, origin.address))
      return this.refuse(name, state, { error: 'network_differs', reason: 'another network' });
    if (!access) return this.refuse(name, state, { error: 'provider_unavailable', reason: 'no key' });

    const outcome = await this.client.complete(access, query, state);
    if (outcome.kind === 'code_used') throw new InvalidProviderLoginError('code_used');
    if (outcome.kind === 'refused') return this.refuse(name, state, outcome);
    const code = newCode();
    const hash = hashCode(code, state.codeChallenge);
    const emailVerified = outcome.emailVerified ? 1 : 0;
    const login = { ...outcome, emailVerified, hash, providerId: provider.id } as const;
    await this.logins.insert(login, state.redirectUri === undefined ? ASKED_TTL_MS : CODE_TTL_MS);
    return answer(state, 'code', code, pageOf(state, code));
  }

  private refuse(
    provider: string,
    state: LoginState,
    { error, reason }: { error: CallbackError; reason: string },
  ): CallbackAnswer {
    this.logger.warn({ msg: 'a login at a provider was refused', provider, error, reason });
    providerLoginEnded.emit({ provider, outcome: error });
    return answer(state, 'error', error, `${SENTENCES[error]}\n`);
  }

  /** Returns undefined if no key decrypts the secret. */
  private async accessTo(provider: Provider): Promise<ProviderAccess | undefined> {
    const secret = await this.decrypt(this.secrets, provider.secret, provider.id);
    if (secret !== undefined) return { ...provider, secret, settings: readSettings(provider.settings) };
    const msg = 'no key decrypts the secret of this provider; restore the key, or set the secret again';
    this.logger.error({ msg, provider: provider.name });
    return undefined;
  }

  /** Returns undefined for a state that is forged, of another provider, or too old. */
  private async readState(text: string, providerId: string): Promise<LoginState | undefined> {
    const json = STATE.test(text) ? await this.decrypt(this.states, text, providerId) : undefined;
    const state = json === undefined ? undefined : (JSON.parse(json) as LoginState);
    return state && Date.now() < state.startedAt + LOGIN_TTL_MS ? state : undefined;
  }

  private async decrypt(box: EncryptedSecrets, text: string, rowKey: string): Promise<string | undefined> {
    // Another instance may have read a new key first.
    if (!box.hasKeyOf(text)) await this.keyFile.reloadForUnknownKey();
    return box.decrypt(text, rowKey)?.toString();
  }
}

/** The library would notice a second value too late. Undefined unless there is one state, and one code or error. */
function stateOfAnswer(query: URLSearchParams): string | undefined {
  const [states, answers] = [query.getAll('state'), [...query.getAll('code'), ...query.getAll('error')]];
  return states.length === 1 && answers.length === 1 ? states[0] : undefined;
}

function answer(
  { redirectUri, programState: state }: LoginState,
  name: 'code' | 'error',
  value: string,
  page: string,
): CallbackAnswer {
  if (redirectUri === undefined) return { kind: 'page', text: page };
  const url = new URL(redirectUri);
  url.search = new URLSearchParams({ [name]: value, state }).toString();
  return { kind: 'redirect', url: url.href };
}

/** The program chose its name. The IP address and the time are what Accounts saw. */
function pageOf({ program, address, startedAt }: LoginState, code: string): string {
  const time = `${timeText(startedAt).slice(0, 16).replace('T', ' ')} UTC`;
  return `${code}

Enter it only into a program that you have just started yourself.

Program: ${program}
IP address: ${address}
Started: ${time}
`;
}
