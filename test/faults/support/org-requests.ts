import { sameElements, SessionRequest, type RealService } from './model-request.js';
import type { ReferenceModel, Role } from './reference-model.js';
import { asRecord, asRecords, asString } from '../../support/service-client.js';

const MAX_ORGS = 3;
const FIRST_NAME = 'Model';

export class CreateOrg extends SessionRequest {
  // Few organizations, so that most requests meet in one that has several members.
  override check(model: Readonly<ReferenceModel>): boolean {
    return super.check(model) && model.orgs.length < MAX_ORGS;
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const reply = await real.send('POST', '/api/orgs', {
      token: real.tokens[session],
      body: { name: FIRST_NAME },
    });
    this.demand(reply, model.createOrg(session, FIRST_NAME));
    if (reply.status === 201) real.orgIds.push(asString(asRecord(reply.body['org'])['id']));
  }

  toString(): string {
    return `createOrg(#${this.pick})`;
  }
}

export abstract class OrgRequest extends SessionRequest {
  constructor(
    pick: number,
    readonly orgPick: number,
  ) {
    super(pick);
  }

  override check(model: Readonly<ReferenceModel>): boolean {
    return super.check(model) && model.orgs.length > 0;
  }

  protected org(model: ReferenceModel): number {
    return this.orgPick % model.orgs.length;
  }
}

export class ReadOrg extends OrgRequest {
  constructor(
    pick: number,
    orgPick: number,
    readonly suffix: '' | '/members',
  ) {
    super(pick, orgPick);
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const org = this.org(model);
    const path = `/api/orgs/${real.orgIds[org]}${this.suffix}`;
    const reply = await real.send('GET', path, { token: real.tokens[session] });
    this.demand(reply, model.readOrg(session, org));
    if (reply.status !== 200) return;
    if (this.suffix === '' && asRecord(reply.body['org'])['name'] !== model.names[org])
      throw new Error(`${String(this)}: it has another name than ${model.names[org]}`);
    const listed = asRecords((this.suffix === '' ? asRecord(reply.body['org']) : reply.body)['members']);
    const found = listed.map((m) => `${asString(m['userId'])} ${asString(m['role'])}`);
    const wanted = [...model.members(org)].map(([person, role]) => `${real.userId(person)} ${role}`);
    if (!sameElements(found, wanted))
      throw new Error(`${String(this)}: ${found.join()} instead of ${wanted.join()}`);
  }

  toString(): string {
    return `readOrg${this.suffix}(#${this.pick}, #${this.orgPick})`;
  }
}

export class AddMember extends OrgRequest {
  constructor(
    pick: number,
    orgPick: number,
    readonly person: string,
    readonly role: Role,
  ) {
    super(pick, orgPick);
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const org = this.org(model);
    const reply = await real.send('POST', `/api/orgs/${real.orgIds[org]}/members`, {
      token: real.tokens[session],
      body: { email: real.email(this.person), role: this.role },
    });
    this.demand(reply, model.addMember(session, org, this.person, this.role));
  }

  toString(): string {
    return `addMember(#${this.pick}, #${this.orgPick}, ${this.person}, ${this.role})`;
  }
}

/** Changes a role, or removes the member when `role` is undefined. */
export class ChangeMember extends OrgRequest {
  constructor(
    pick: number,
    orgPick: number,
    readonly person: string,
    readonly role: Role | undefined,
  ) {
    super(pick, orgPick);
  }

  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const session = this.session(model);
    const org = this.org(model);
    const path = `/api/orgs/${real.orgIds[org]}/members/${real.userId(this.person)}`;
    const token = real.tokens[session];
    const { person, role } = this;
    if (role === undefined) {
      this.demand(await real.send('DELETE', path, { token }), model.removeMember(session, org, person));
    } else {
      const reply = await real.send('PATCH', path, { token, body: { role } });
      this.demand(reply, model.changeRole(session, org, person, role));
    }
  }

  toString(): string {
    return `changeMember(#${this.pick}, #${this.orgPick}, ${this.person}, ${this.role ?? 'remove'})`;
  }
}
