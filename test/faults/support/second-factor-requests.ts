import { AuthenticatorApp } from '../../support/second-factor.js';
import { asString, asStrings } from '../../support/service-client.js';
import { PASSWORD } from './account-requests.js';
import { Request, type RealService, SessionRequest } from './model-request.js';
import type { ShownCode } from './model-second-factors.js';
import type { ReferenceModel } from './reference-model.js';

const PATH = '/api/me/second-factor';

export class BeginSecondFactor extends SessionRequest {
  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const reply = await real.send('POST', PATH, {
      token: real.tokens[session],
      body: { password: PASSWORD },
    });
    this.demand(reply, model.beginSecondFactor(session));
    if (reply.status === 201) {
      real.apps.set(model.userOf(session), new AuthenticatorApp(asString(reply.body['secret'])));
    }
  }

  toString(): string {
    return `beginSecondFactor(#${this.pick})`;
  }
}

export class ConfirmSecondFactor extends SessionRequest {
  constructor(
    pick: number,
    readonly isRight: boolean,
  ) {
    super(pick);
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const code = digitsOf(model.userOf(session), this.isRight ? 'app' : 'wrong digits', real);
    if (code === undefined) return;
    const reply = await real.send('POST', `${PATH}/confirm`, { token: real.tokens[session], body: { code } });
    this.demand(reply, model.confirmSecondFactor(session, this.isRight));
    if (reply.status === 200) real.recoveryCodes.push(...asStrings(reply.body['recoveryCodes']));
  }

  toString(): string {
    return `confirmSecondFactor(#${this.pick}${this.isRight ? '' : ', wrong digits'})`;
  }
}

/** How a code is chosen, whatever codes there are. */
export type CodeChoice = 'app' | 'wrong digits' | 'own recovery code' | 'any recovery code';

export class SecondStep extends Request {
  constructor(
    readonly pick: number,
    readonly choice: CodeChoice,
    readonly pickCode: number,
  ) {
    super();
  }

  override check({ secondFactors }: Readonly<ReferenceModel>): boolean {
    return secondFactors.challenges.length > 0;
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    // The latest of them are those that are still good.
    const last = model.secondFactors.challenges.length - 1;
    const index = last - (this.pick % Math.min(last + 1, 5));
    const { user } = model.secondFactors.challenges[index]!;
    const shown = choose(model, user, this);
    const code = textOf(user, shown, real);
    if (code === undefined) return;
    const body = { challenge: real.challenges[index], code };
    const reply = await real.send('POST', '/api/auth/login/second-factor', { body });
    this.demand(reply, model.secondStep(index, shown));
    if (reply.status === 200) real.tokens.push(asString(reply.body['token']));
  }

  toString(): string {
    return `secondStep(#${this.pick}, ${this.choice} #${this.pickCode})`;
  }
}

/** What asks for the password and a code: other recovery codes, or the removal. */
export class ChangeSecondFactor extends SessionRequest {
  constructor(
    pick: number,
    readonly change: 'renew' | 'remove',
    readonly choice: CodeChoice,
    readonly pickCode: number,
  ) {
    super(pick);
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const user = model.userOf(session);
    const shown = choose(model, user, this);
    const code = textOf(user, shown, real);
    if (code === undefined) return;
    const reply = await real.send(
      'POST',
      `${PATH}/${this.change === 'remove' ? 'remove' : 'recovery-codes'}`,
      {
        token: real.tokens[session],
        body: { password: PASSWORD, code },
      },
    );
    this.demand(reply, model.changeSecondFactor(session, this.change, shown));
    if (reply.status === 200 && this.change === 'renew') {
      real.recoveryCodes.push(...asStrings(reply.body['recoveryCodes']));
    }
  }

  toString(): string {
    return `${this.change}SecondFactor(#${this.pick}, ${this.choice} #${this.pickCode})`;
  }
}

function choose(
  { secondFactors: { recoveryCodes } }: Readonly<ReferenceModel>,
  user: string,
  { choice, pickCode }: { choice: CodeChoice; pickCode: number },
): ShownCode {
  if (choice === 'app' || choice === 'wrong digits') return choice;
  const isAny = choice === 'any recovery code';
  const codes = [...recoveryCodes.keys()].filter((index) => isAny || recoveryCodes[index]!.user === user);
  return codes.length === 0 ? 'wrong digits' : { recovery: codes[pickCode % codes.length]! };
}

function textOf(user: string, shown: ShownCode, real: RealService): string | undefined {
  return typeof shown === 'object' ? real.recoveryCodes[shown.recovery] : digitsOf(user, shown, real);
}

/** Returns undefined where the app has no code that was not used: each half minute brings one. */
function digitsOf(user: string, shown: 'app' | 'wrong digits', real: RealService): string | undefined {
  const app = real.apps.get(user);
  if (!app) return '000000';
  if (shown === 'wrong digits') return app.wrong();
  return app.hasNext() ? app.next() : undefined;
}
