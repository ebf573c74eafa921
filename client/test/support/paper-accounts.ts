import type { FeedEvent } from '../../src/service/index.ts';
import { ISSUER, keySet } from './signed-tokens.ts';

type Answer = { status: number; body: object };
const ok = (body: object): Answer => ({ status: 200, body });

export interface PaperKey {
  id: string;
  /** Id of the user. */
  sub: string;
  role: 'member' | 'admin' | 'owner';
  org: string | null;
  exp?: number;
}

/** An Accounts without a network: it calls each token active that nobody ended, and issues tokens for calls. */
export class PaperAccounts {
  readonly asked: { path: string; form: URLSearchParams }[] = [];
  /** The API keys that are active, with what introspection says of them. */
  readonly keys = new Map<string, PaperKey>();
  /** Holds back the answer to an introspection of this text. */
  onIntrospect: ((token: string) => Promise<unknown> | undefined) | undefined;
  /** Session ids and `service:` names that ended. */
  readonly ended = new Set<string>();
  /** The token to which a code is exchanged. */
  exchanged = '';
  tokenLife = 300;
  /** Replaces the answer to a request for a token. */
  onToken: (() => Answer | Promise<Answer>) | undefined;
  /** Replaces the answer of the feed. */
  onFeed: (() => Answer) | undefined;
  private events: object[] = [];
  private issued = 0;
  private wake: () => void = () => undefined;

  readonly options = {
    issuer: ISSUER,
    audience: 'billing',
    credentials: { name: 'billing', secret: 's' },
    fetch: async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const { status, body } = await this.answer(new URL(input as string), init ?? {});
      return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
    },
  };

  count(path: string): number {
    return this.asked.filter((asked) => asked.path === path).length;
  }

  /** Adds an event to the feed. */
  tell(event: Partial<FeedEvent> & { type: string }): void {
    this.events.push({ orgId: null, orgRevision: null, userId: null, sessionId: null, data: {}, ...event });
    this.wake();
  }

  wakeFeed(): void {
    this.wake();
  }

  private async answer({ pathname, searchParams }: URL, { body, signal }: RequestInit): Promise<Answer> {
    const form = new URLSearchParams(typeof body === 'string' ? body : '');
    if (pathname !== '/api/events') this.asked.push({ path: pathname, form });
    if (pathname === '/.well-known/jwks.json') return ok(keySet);
    if (pathname === '/api/auth/introspect') {
      const token = form.get('token')!;
      const answer = token.startsWith('ack_') ? this.introspectKey(token) : this.introspect(token);
      await this.onIntrospect?.(token);
      return ok(answer);
    }
    if (pathname === '/api/auth/token') return this.onToken?.() ?? this.issue();
    if (pathname === '/api/auth/code/exchange')
      return ok({ user: {}, token: this.exchanged, expiresIn: 300 });
    if (pathname === '/api/memberships')
      return ok({
        memberships: [
          {
            orgId: searchParams.get('orgId'),
            userId: searchParams.get('userId'),
            role: 'admin',
            orgRevision: 1,
          },
        ],
      });
    return this.feed(Number(searchParams.get('after') ?? 0), searchParams.get('wait') === '1', signal!);
  }

  private introspectKey(token: string): object {
    const { sub, exp, ...key } = this.keys.get(token) ?? { sub: '' };
    if (sub === '') return { active: false };
    const claims = { iss: ISSUER, aud: 'billing', client_id: 'billing', sub, iat: 0, exp: exp ?? 4e9 };
    return { active: true, ...claims, username: 'ada@example.com', email_verified: true, key };
  }

  private introspect(token: string): object {
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<
      string,
      unknown
    >;
    const { sid, sub, login_sid, branch_sid, act, aud, key } = claims;
    const links = [
      sid,
      sub,
      login_sid,
      branch_sid,
      (key as PaperKey | undefined)?.id,
      `service:${String(aud)}`,
      ...(JSON.stringify(act ?? 0).match(/service:[a-z-]+/g) ?? []),
    ];
    if (links.some((link) => this.ended.has(link as string))) return { active: false };
    return {
      active: true,
      ...claims,
      ...((sid ?? key) !== undefined && { username: 'ada@example.com', email_verified: true }),
    };
  }

  private issue(): Answer {
    this.issued += 1;
    return ok({ access_token: `token-${this.issued}`, token_type: 'Bearer', expires_in: this.tokenLife });
  }

  private async feed(after: number, waits: boolean, signal: AbortSignal): Promise<Answer> {
    if (waits && !this.onFeed && after === this.events.length)
      await new Promise<void>((woken) => {
        this.wake = woken;
        signal.addEventListener('abort', () => woken());
        setTimeout(woken, 1_000).unref();
      });
    const { onFeed }: PaperAccounts = this;
    return onFeed?.() ?? ok({ events: this.events.slice(after), next: String(this.events.length) });
  }
}
