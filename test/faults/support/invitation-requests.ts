import { asRecord, asString, type Reply } from '../../support/service-client.js';
import { Request, type RealService, SessionRequest } from './model-request.js';
import type { ReferenceModel, Role } from './reference-model.js';

const PASSWORD = 'correct horse battery staple';

interface RealInvitation {
  id: string;
  code: string;
}

function invitationIn({ body }: Reply): RealInvitation {
  const invitation = asRecord(body['invitation']);
  return { id: asString(invitation['id']), code: asString(invitation['code']) };
}

export class Invite extends SessionRequest {
  constructor(
    pick: number,
    readonly orgPick: number,
    readonly person: string,
    readonly role: Role,
  ) {
    super(pick);
  }

  override check(model: Readonly<ReferenceModel>): boolean {
    return super.check(model) && model.orgs.length > 0;
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const org = this.orgPick % model.orgs.length;
    const reply = await real.send('POST', `/api/orgs/${real.orgIds[org]}/invitations`, {
      token: real.tokens[session],
      body: { email: real.email(this.person), role: this.role, showCode: true },
    });
    this.demand(reply, model.invite(session, org, this.person, this.role));
    if (reply.status === 201) real.invitations.push(invitationIn(reply));
  }

  toString(): string {
    return `invite(#${this.pick}, #${this.orgPick}, ${this.person}, ${this.role})`;
  }
}

/** A request about one of the invitations so far. */
abstract class InvitationRequest extends SessionRequest {
  constructor(
    pick: number,
    readonly invitationPick: number,
  ) {
    super(pick);
  }

  override check(model: Readonly<ReferenceModel>): boolean {
    return super.check(model) && model.invitations.all.length > 0;
  }

  protected invitation(model: ReferenceModel): number {
    return this.invitationPick % model.invitations.all.length;
  }
}

export class ResendInvitation extends InvitationRequest {
  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const [session, index] = [this.session(model), this.invitation(model)];
    const org = real.orgIds[model.invitations.get(index).org];
    const reply = await real.send(
      'POST',
      `/api/orgs/${org}/invitations/${real.invitations[index]!.id}/resend`,
      {
        token: real.tokens[session],
        body: { showCode: true },
      },
    );
    this.demand(reply, model.resend(session, index));
    if (reply.status === 200) real.invitations[index] = invitationIn(reply);
  }

  toString(): string {
    return `resendInvitation(#${this.pick}, #${this.invitationPick})`;
  }
}

export class RevokeInvitation extends InvitationRequest {
  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const [session, index] = [this.session(model), this.invitation(model)];
    const org = real.orgIds[model.invitations.get(index).org];
    const path = `/api/orgs/${org}/invitations/${real.invitations[index]!.id}`;
    const reply = await real.send('DELETE', path, { token: real.tokens[session] });
    this.demand(reply, model.revokeInvitation(session, index));
  }

  toString(): string {
    return `revokeInvitation(#${this.pick}, #${this.invitationPick})`;
  }
}

/** By the user of a session, with the code that is good or without any: nobody's email is verified. */
export class AnswerInvitation extends InvitationRequest {
  constructor(
    pick: number,
    invitationPick: number,
    readonly answer: 'accept' | 'decline',
    readonly hasCode: boolean,
  ) {
    super(pick, invitationPick);
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const [session, index] = [this.session(model), this.invitation(model)];
    const { id, code } = real.invitations[index]!;
    const reply = await real.send('POST', `/api/me/invitations/${id}/${this.answer}`, {
      token: real.tokens[session],
      body: this.hasCode ? { code } : {},
    });
    this.demand(reply, model.answer(session, index, this.answer, this.hasCode));
  }

  toString(): string {
    return `${this.answer}(#${this.pick}, #${this.invitationPick}${this.hasCode ? '' : ', no code'})`;
  }
}

export class RegisterInvited extends Request {
  constructor(
    readonly person: string,
    readonly invitationPick: number,
  ) {
    super();
  }

  override check(model: Readonly<ReferenceModel>): boolean {
    return model.invitations.all.length > 0;
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const index = this.invitationPick % model.invitations.all.length;
    const { code: invitationCode } = real.invitations[index]!;
    const body = { email: real.email(this.person), password: PASSWORD, invitationCode };
    const reply = await real.send('POST', '/api/auth/register', { body });
    this.demand(reply, model.registerInvited(this.person, PASSWORD, index));
    if (reply.status !== 201) return;
    real.tokens.push(asString(reply.body['token']));
    real.userIds.set(this.person, asString(asRecord(reply.body['user'])['id']));
  }

  toString(): string {
    return `registerInvited(${this.person}, #${this.invitationPick})`;
  }
}
