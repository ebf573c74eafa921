import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import OidcProvider, { type Context } from 'oidc-provider';

/** What the provider says of a user, without `sub`. */
export interface ProviderUser {
  email?: string;
  email_verified?: boolean | string;
  name?: string;
  [claim: string]: unknown;
}

const USER_HEADER = 'x-user';
const INTERACTION = '/interaction';

/** An OpenID Connect provider in the process of the test. The browser says who logs in. */
export class TestProvider {
  readonly clientId = 'accounts';
  readonly secret = 'secret of the client at the provider';
  /** by `sub` */
  readonly users = new Map<string, ProviderUser>();
  /** epoch seconds of logins from now on; undefined means the time of the login */
  authTime: number | undefined;

  private constructor(
    readonly issuer: string,
    private readonly server: Server,
  ) {}

  static async start({ namesAuthTime = true } = {}): Promise<TestProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const test = new TestProvider(issuer, server);
    const provider = test.configure(namesAuthTime);
    const serve = provider.callback();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (!request.url?.startsWith(INTERACTION)) return serve(request, response);
      void provider.interactionFinished(request, response, test.loginOf(request.headers[USER_HEADER]));
    });
    return test;
  }

  addUser(sub: string, user: ProviderUser): string {
    this.users.set(sub, user);
    return sub;
  }

  /** @param sub of the user who logs in; without it, the user refuses @param sites where each origin really is */
  browser(sub?: string, sites: Record<string, string> = {}): Browser {
    return new Browser({ [this.issuer]: this.issuer, ...sites }, { [USER_HEADER]: sub ?? '' });
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private loginOf(sub: string | string[] | undefined): object {
    if (!sub) return { error: 'access_denied', error_description: '<script>alert(1)</script>' };
    return { login: { accountId: sub, ...(this.authTime !== undefined && { ts: this.authTime }) } };
  }

  private configure(namesAuthTime: boolean): OidcProvider {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const provider = new OidcProvider(this.issuer, {
      clients: [
        {
          client_id: this.clientId,
          client_secret: this.secret,
          redirect_uris: ['https://accounts.example.com/callback'],
          require_auth_time: namesAuthTime,
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', kid: 'test' }] },
      cookies: { keys: ['signs cookies of the test'] },
      scopes: ['openid', 'email', 'profile'],
      claims: { openid: ['sub', 'hd'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: false,
      ttl: {
        AccessToken: 60,
        AuthorizationCode: 60,
        Grant: 600,
        IdToken: 600,
        Interaction: 600,
        Session: 600,
      },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `${INTERACTION}/${uid}` },
      findAccount: (_: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ ...this.users.get(sub), sub }),
      }),
      loadExistingGrant: async ({ oidc }: Context) => {
        const { client, session } = oidc;
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    // Tests add providers of any name, and each has a callback of its own.
    provider.Client.prototype.redirectUriAllowed = () => true;
    return provider;
  }
}

export interface Visit {
  /** where the browser has stopped: an answer that redirects no further, or a site that it does not know */
  url: URL;
  response?: Response;
}

/** Follows redirects with cookies. */
export class Browser {
  private readonly cookies = new Map<string, Map<string, string>>();

  constructor(
    private readonly sites: Record<string, string>,
    private readonly headers: Record<string, string>,
  ) {}

  async visit(start: string): Promise<Visit> {
    let url = new URL(start);
    for (;;) {
      const site = this.sites[url.origin];
      if (site === undefined) return { url };
      const jar = this.cookies.get(url.origin) ?? new Map<string, string>();
      this.cookies.set(url.origin, jar);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = { accept: 'text/html', ...this.headers, cookie };
      const response = await fetch(site + url.pathname + url.search, { headers, redirect: 'manual' });
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        if (value === '') jar.delete(name!);
        else jar.set(name!, value!);
      }
      const location = response.headers.get('location');
      if (location === null) return { url, response };
      await response.body?.cancel();
      url = new URL(location, url);
    }
  }
}
