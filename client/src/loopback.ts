import type { Client } from './client.ts';
import { requireKnown } from './known-members.ts';
import { type Callback, LoopbackListener } from './loopback-listener.ts';
import { createPkce } from './pkce.ts';
import { aborted, type InvalidAnswer, type TimedOut } from './problems.ts';
import type { DataOf, ProblemOf, Success } from './results.ts';
import { inTime } from './waiting.ts';

/** As long as Accounts accepts the state. */
const LOGIN_MS = 600_000;
const TIMED_OUT: TimedOut = {
  code: 'timed_out',
  status: null,
  detail: 'The user did not log in at the provider within 10 minutes.',
};

export interface ProviderLoginOptions {
  /** The name of the provider in `getAuthConfig`. */
  provider: string;
  /** Opens the URL in the user's browser, such as `shell.openExternal` of Electron. */
  open: (url: string) => unknown;
  /**
   * Asks the user for the code that the browser shows; undefined means that the user gave up. Without it, the browser comes
   * back to the program by a loopback address.
   */
  paste?: (() => string | undefined | Promise<string | undefined>) | undefined;
  /** The email or name that the provider fills in. */
  loginHint?: string | undefined;
  /** The provider must have authenticated the user within so many seconds, or does it again. */
  maxAge?: number | undefined;
  /** The name of this computer in the list of sessions. */
  deviceName?: string | undefined;
  /** Ends the login with `aborted`. */
  signal?: AbortSignal | undefined;
}
const OPTIONS: readonly string[] = [
  'provider',
  'open',
  'paste',
  'loginHint',
  'maxAge',
  'deviceName',
  'signal',
] satisfies (keyof ProviderLoginOptions)[];

/** What a login can need in addition to the provider. */
export interface ProviderLoginProof {
  /** After `link_required` and `wrong_password`: the password of the user at Accounts. */
  password?: string | undefined;
  /** After `second_factor_code_required` and a wrong code: a TOTP code or a recovery code. */
  secondFactorCode?: string | undefined;
}
const PROOFS: readonly string[] = ['password', 'secondFactorCode'] satisfies (keyof ProviderLoginProof)[];

const REFUSALS = {
  provider_denied: 'The user or the provider refused the login.',
  provider_unavailable: 'The provider did not answer, or its answer did not verify.',
  insufficient_user_authentication: 'The login at the provider is too old. Start again with `maxAge`.',
  network_differs: 'The browser is in another network than the program.',
};
/** The `error` with which Accounts sent the browser back, or one that this version does not know. */
export type ProviderRefusal = { status: null; detail: string; retryAfter?: never } & (
  | { code: keyof typeof REFUSALS }
  | { code: 'unknown_code'; receivedCode: string }
);

/** The program cannot listen on a loopback address of this computer. Use `paste`. */
export interface NoLoopback {
  code: 'no_loopback';
  status: null;
  detail: string;
  cause: unknown;
  retryAfter?: never;
}

export type ProviderLoginProblem =
  | ProblemOf<'startProviderLogin'>
  | ProblemOf<'finishProviderLogin'>
  | ProviderRefusal
  | NoLoopback;

export interface ProviderLoginFailure {
  ok: false;
  problem: ProviderLoginProblem;
  /**
   * Continues the login with what was missing. If the browser has not come back, or Accounts no longer knows its code, starts
   * over: the browser opens again.
   *
   * @throws TypeError for an unknown member
   */
  retry(proof?: ProviderLoginProof): Promise<ProviderLogin>;
}
export type ProviderLogin = Success<DataOf<'finishProviderLogin'>> | ProviderLoginFailure;

type ProviderLoginClient = Pick<Client, 'startProviderLogin' | 'finishProviderLogin'>;

/**
 * Logs the user in at a provider, in the browser, and keeps the login in the client's store. For Node.js, and for the main
 * process of Electron.
 *
 * Rejects with what `open` and `paste` throw, and with a TypeError for an unknown option.
 */
export async function loginAtProvider(
  client: ProviderLoginClient,
  options: ProviderLoginOptions,
): Promise<ProviderLogin> {
  requireKnown('loginAtProvider does', options, OPTIONS);
  return start(client, options, {});
}

async function start(
  client: ProviderLoginClient,
  options: ProviderLoginOptions,
  proof: ProviderLoginProof,
): Promise<ProviderLogin> {
  const failed = (problem: ProviderLoginProblem): ProviderLoginFailure =>
    failure(problem, (more) => start(client, options, more));
  const { provider, open, paste, loginHint, maxAge, signal } = options;
  let listener: LoopbackListener | undefined;
  try {
    if (!paste) listener = await LoopbackListener.open();
  } catch (cause) {
    return failed({ code: 'no_loopback', status: null, detail: 'No loopback address can be used.', cause });
  }
  try {
    const { codeVerifier, challenge } = await createPkce();
    const input = { name: provider, ...challenge, redirectUri: listener?.redirectUri, loginHint, maxAge };
    const started = await client.startProviderLogin(input, { signal });
    if (!started.ok) return failed(started.problem);
    const { authorizationUrl, state } = started.data;
    // `open` may start any program of the computer for another scheme.
    if (!/^https?:\/\//i.test(authorizationUrl)) return failed(notOfTheWeb(started.status));
    const returned = listener?.callback(state);
    // It may last until the user closes the browser.
    const opened = Promise.resolve(open(authorizationUrl));
    const callback = returned ?? pasted(paste);
    const got = await inTime(Promise.race([callback, opened.then(() => callback)]), LOGIN_MS, signal);
    if (got === undefined) return failed(signal?.aborted ? aborted : TIMED_OUT);
    if ('error' in got) return failed(refusalOf(got.error));
    if (got.code === '') return failed(aborted);
    return await finish(client, options, { code: got.code, codeVerifier, ...proof });
  } finally {
    listener?.close();
  }
}

async function finish(
  client: ProviderLoginClient,
  options: ProviderLoginOptions,
  confirmed: { code: string; codeVerifier: string } & ProviderLoginProof,
): Promise<ProviderLogin> {
  const { deviceName, signal } = options;
  const result = await client.finishProviderLogin({ ...confirmed, deviceName }, { signal });
  if (result.ok) return result;
  const isVoid = result.problem.code === 'invalid_provider_login';
  return failure(result.problem, (more) =>
    isVoid ? start(client, options, more) : finish(client, options, { ...confirmed, ...more }),
  );
}

async function pasted(paste: ProviderLoginOptions['paste']): Promise<Callback> {
  return { code: (await paste?.())?.trim() ?? '' };
}

function failure(
  problem: ProviderLoginProblem,
  again: (proof: ProviderLoginProof) => Promise<ProviderLogin>,
): ProviderLoginFailure {
  const retry = async (proof: ProviderLoginProof = {}): Promise<ProviderLogin> => {
    requireKnown('retry does', proof, PROOFS);
    return again(proof);
  };
  return { ok: false, problem, retry };
}

function notOfTheWeb(status: number): InvalidAnswer {
  return { code: 'invalid_answer', status, detail: 'The authorization URL has another scheme than https.' };
}

function refusalOf(error: string): ProviderRefusal {
  if (isRefusal(error)) return { code: error, status: null, detail: REFUSALS[error] };
  return { code: 'unknown_code', receivedCode: error, status: null, detail: 'The login was rejected.' };
}

function isRefusal(error: string): error is keyof typeof REFUSALS {
  return Object.hasOwn(REFUSALS, error);
}
