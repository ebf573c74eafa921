import { type Client, createClient, memoryStore, unwrap } from 'accounts-client';
import { generateSync } from 'otplib';

export interface Answer {
  status: number;
  body: { email?: string; role?: string; code?: string; booked?: object; closed?: object };
}

/** The desktop program of one user. */
export class Desktop {
  readonly client: Client;
  readonly email: string;
  private readonly name: string;
  private readonly password: string;
  private readonly engineRoom: string;
  /** what an authenticator app would keep */
  private appSecret = '';
  private token = '';

  constructor(accounts: string, engineRoom: string, name: string, email: string, password: string) {
    this.client = createClient({ baseUrl: accounts, store: memoryStore() });
    this.engineRoom = engineRoom;
    this.name = name;
    this.email = email;
    this.password = password;
  }

  async register(): Promise<string> {
    const { email, password, name } = this;
    return unwrap(await this.client.register({ email, password, name })).user.id;
  }

  /** @returns the members by name, as a client shows them */
  async members(orgId: string): Promise<string[]> {
    const { members } = unwrap(await this.client.listMembers({ orgId, include: ['profile'] }));
    return members.map(({ profile, email, role }) => `${profile?.name ?? email} (${role})`);
  }

  /** @returns the recovery codes, which a user keeps on paper */
  async protect(): Promise<string[]> {
    const { secret } = unwrap(await this.client.enrollSecondFactor({ password: this.password }));
    this.appSecret = secret;
    return unwrap(await this.client.confirmSecondFactor({ code: generateSync({ secret }) })).recoveryCodes;
  }

  /** Each code of the app is taken once, so the one of the next half minute is shown here. */
  async logIn(): Promise<void> {
    const { email, password } = this;
    const first = await this.client.login({ email, password });
    if (first.ok) return;
    if (first.problem.code !== 'second_factor_required') throw new Error(first.problem.detail);
    const { challenge } = first.problem;
    const code = generateSync({ secret: this.appSecret, epoch: Date.now() / 1000 + 30 });
    unwrap(await this.client.completeLogin({ challenge, code }));
  }

  /** The service makes the challenge; Accounts issues a code for that service alone; the service exchanges it. */
  async enter(): Promise<void> {
    const begun = await this.ask('begin');
    const { login, challenge } = begun.body as { login: string; challenge: { codeChallenge: string } };
    const issued = unwrap(
      await this.client.issueCode({
        audience: 'engine-room',
        codeChallenge: challenge.codeChallenge,
        codeChallengeMethod: 'S256',
      }),
    );
    const entered = await this.ask('finish', { login, code: issued.code });
    this.token = (entered.body as { token?: string }).token ?? '';
  }

  whoAmI(orgId: string): Promise<Answer> {
    return this.ask(`rooms/${orgId}`);
  }

  book(orgId: string): Promise<Answer> {
    return this.ask(`book/${orgId}`);
  }

  private async ask(path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.engineRoom}/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: this.token === '' ? {} : { Authorization: `Bearer ${this.token}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }
}
