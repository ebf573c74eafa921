import type { InputOf } from '../results.ts';
import { hashOf } from './api-keys.ts';
import type { BoundedCalls } from './bounded-calls.ts';
import type { Changes } from './changes.ts';
import { linkOfService, type KeyToken, type UserToken } from './claims.ts';
import { isProblem } from './reasons.ts';
import { SharedReads } from './shared-reads.ts';
import { Unavailable } from './unavailable.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const RENEWED_BEFORE_MS = 30_000;

/** An access token for a call to another service. */
export interface CallToken {
  ok: true;
  token: string;
  /** RFC 3339 */
  expiresAt: string;
}

interface Kept {
  answer: CallToken;
  readAt: number;
  until: number;
}

/** Gets tokens for calls to other services, and keeps each until it is about to expire or the feed names one of its links. */
export class CallTokens {
  /** By the user's token, or by this object for the service itself, and then by audience. */
  private readonly kept = new WeakMap<object, Map<string, Kept>>();
  private readonly reads: SharedReads<Kept | undefined>;
  private readonly calls: BoundedCalls;
  private readonly changes: Changes;
  private readonly service: string;

  constructor(calls: BoundedCalls, changes: Changes, service: string) {
    this.calls = calls;
    this.changes = changes;
    this.reads = new SharedReads(changes);
    this.service = service;
  }

  /**
   * @returns undefined if Accounts does not accept the user's token
   * @throws Unavailable
   */
  forUser(audience: string, token: string, known: UserToken | KeyToken): Promise<CallToken | undefined> {
    const subject = { subject_token: token, subject_token_type: ACCESS_TOKEN } as const;
    return this.find(known, { grant_type: EXCHANGE, audience, ...subject }, known.links);
  }

  /** @throws Unavailable */
  async forService(audience: string): Promise<CallToken> {
    const own = await this.find(this, { grant_type: 'client_credentials', audience }, []);
    return own!;
  }

  private async find(
    holder: object,
    input: InputOf<'issueServiceToken'>,
    linksOfSubject: readonly string[],
  ): Promise<CallToken | undefined> {
    const { audience, subject_token = '' } = input;
    const links = [...linksOfSubject, ...[this.service, audience].map(linkOfService)];
    const byAudience = this.kept.get(holder) ?? new Map<string, Kept>();
    this.kept.set(holder, byAudience);
    const kept = byAudience.get(audience);
    if (kept && Date.now() < kept.until && !this.changes.isVoid(kept.readAt, ...links)) return kept.answer;
    const key = `${audience} ${hashOf(subject_token)}`;
    const read = await this.reads.read(key, links, (readAt) => this.request(input, readAt));
    if (read) byAudience.set(audience, read);
    return read?.answer;
  }

  private async request(input: InputOf<'issueServiceToken'>, readAt: number): Promise<Kept | undefined> {
    const begunAt = Date.now();
    try {
      const answer = await this.calls.read((client, options) => client.issueServiceToken(input, options));
      const expiresAt = begunAt + answer.expires_in * 1000;
      const token = { token: answer.access_token, expiresAt: new Date(expiresAt).toISOString() };
      return { answer: { ok: true, ...token }, readAt, until: expiresAt - RENEWED_BEFORE_MS };
    } catch (error) {
      const code = error instanceof Unavailable && isProblem(error.cause) ? error.cause.code : undefined;
      if (code === 'invalid_subject_token' && input.subject_token !== undefined) return undefined;
      throw code === 'invalid_target' ? new Unavailable(new Error(this.missing(input.audience))) : error;
    }
  }

  private missing(to: string): string {
    const command = `accounts services call ${this.service} --to ${to} --reason …`;
    return `"${this.service}" gets no token for "${to}" (invalid_target): an operator has to allow the call by ${command}, and for API keys "${to}" needs the scope keys`;
  }
}
