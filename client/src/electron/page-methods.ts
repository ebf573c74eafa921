import { type Client, idsOf } from '../client.ts';
import type { CallOptions } from '../options.ts';
import type { LogOutResult } from '../results.ts';

type TokenName = 'token' | 'refreshToken' | 'expiresAt';
type WithoutTokens<R> = R extends { data: { token: string } }
  ? Omit<R, 'data'> & { data: Omit<R['data'], TokenName> }
  : R;
type OptionsOf<Given extends unknown[]> = Omit<NonNullable<Given[1]>, 'signal'>;
type PageMethod<M> = M extends (...given: infer Given) => Promise<infer R>
  ? [] extends Given
    ? (input?: Given[0], options?: OptionsOf<Given>) => Promise<WithoutTokens<R>>
    : (input: Given[0], options?: OptionsOf<Given>) => Promise<WithoutTokens<R>>
  : never;

/** The methods of a client without `refresh` and `signal`, and results without tokens. `cause` of a problem is a text. */
export type PageClient = {
  [
    Name in keyof Client as Exclude<Name, 'refresh' | 'logOut' | 'isLoggedIn' | 'onSessionChange'>
  ]: PageMethod<Client[Name]>;
} & Pick<Client, 'isLoggedIn' | 'onSessionChange'> & {
    logOut(
      input?: Record<string, never>,
      options?: Omit<CallOptions<'logOut'>, 'signal'>,
    ): Promise<LogOutResult>;
  };

/** The names of the methods that pages call in the main process: operations, so that no other method gives them a token. */
export const PAGE_METHODS: readonly string[] = [
  'isLoggedIn',
  ...idsOf(undefined).filter((id) => id !== 'refresh'),
];

/** @throws TypeError for a signal, which no message can carry */
export function requireNoSignal(options: unknown): void {
  if ((options as { signal?: unknown } | null | undefined)?.signal !== undefined)
    throw new TypeError('The options in a page do not take "signal"');
}
