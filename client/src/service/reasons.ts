import type { Delay } from '../operation.ts';

/** Problems that remain until an operator or the author of the service corrects the setup. */
const MISTAKES = new Set(['invalid_client', 'insufficient_scope', 'no_credentials']);

export type ServiceProblem = Delay & {
  code: string;
  detail: string;
  requiredScope?: string;
  cause?: unknown;
};

export function isProblem(cause: unknown): cause is ServiceProblem {
  return typeof cause === 'object' && cause !== null && 'code' in cause && 'detail' in cause;
}

export const isMistake = ({ code }: ServiceProblem): boolean => MISTAKES.has(code);

/** Describes in one sentence why a request to Accounts failed. */
export class Reasons {
  private readonly service: string;
  private readonly accounts: string;

  constructor(service: string, baseUrl: string) {
    this.service = JSON.stringify(service);
    this.accounts = new URL(baseUrl).origin;
  }

  of(cause: unknown): string {
    if (!isProblem(cause)) return messageOf(cause);
    const { code, detail, requiredScope } = cause;
    switch (code) {
      case 'invalid_client':
        return `Accounts rejects the name or the secret of ${this.service} (${code})`;
      case 'insufficient_scope':
        return `${this.service} lacks the scope "${requiredScope ?? ''}", which an operator has to allow (${code})`;
      case 'no_credentials':
        return `the secret of ${this.service} cannot be read: ${messageOf(cause.cause)}`;
      case 'unreachable':
        return `Accounts cannot be reached at ${this.accounts} (${codeOf(cause.cause)})`;
      default:
        return `${detail} (${code}, from ${this.accounts})`;
    }
  }
}

/** The message is only `fetch failed`, so use the code of its cause. */
function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return messageOf(cause);
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.cause === undefined ? cause.message : codeOf(cause.cause);
}

export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
