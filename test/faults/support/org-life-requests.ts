import type { Expected, ReferenceModel } from './reference-model.js';
import type { RealService } from './model-request.js';
import { OrgRequest } from './org-requests.js';

interface Sent {
  method: 'POST' | 'PATCH' | 'DELETE';
  suffix: string;
  body?: object;
}

/** What becomes of an organization. */
abstract class OrgLifeRequest extends OrgRequest {
  async run(model: ReferenceModel, real: RealService): Promise<void> {
    const [session, org] = [this.session(model), this.org(model)];
    const { method, suffix, body } = this.request(real);
    const reply = await real.send(method, `/api/orgs/${real.orgIds[org]}${suffix}`, {
      token: real.tokens[session],
      ...(body && { body }),
    });
    this.demand(reply, this.expect(model, session, org));
  }

  toString(): string {
    return `${this.constructor.name}(${Object.values(this).join(', ')})`;
  }

  protected abstract request(real: RealService): Sent;
  protected abstract expect(model: ReferenceModel, session: number, org: number): Expected;
}

export class LeaveOrg extends OrgLifeRequest {
  protected request(): Sent {
    return { method: 'POST', suffix: '/leave' };
  }

  protected expect(model: ReferenceModel, session: number, org: number): Expected {
    return model.leave(session, org);
  }
}

export class TransferOrg extends OrgLifeRequest {
  constructor(
    pick: number,
    orgPick: number,
    readonly person: string,
    readonly leaves: boolean,
  ) {
    super(pick, orgPick);
  }

  protected request(real: RealService): Sent {
    const body = { userId: real.userId(this.person), ...(this.leaves && { leave: true }) };
    return { method: 'POST', suffix: '/transfer', body };
  }

  protected expect(model: ReferenceModel, session: number, org: number): Expected {
    return model.transfer(session, org, this.person, this.leaves);
  }
}

export class RenameOrg extends OrgLifeRequest {
  constructor(
    pick: number,
    orgPick: number,
    readonly name: string,
  ) {
    super(pick, orgPick);
  }

  protected request(): Sent {
    return { method: 'PATCH', suffix: '', body: { name: this.name } };
  }

  protected expect(model: ReferenceModel, session: number, org: number): Expected {
    return model.rename(session, org, this.name);
  }
}

export class DeleteOrg extends OrgLifeRequest {
  protected request(): Sent {
    return { method: 'DELETE', suffix: '' };
  }

  protected expect(model: ReferenceModel, session: number, org: number): Expected {
    return model.deleteOrg(session, org);
  }
}

export class RestoreOrg extends OrgLifeRequest {
  protected request(): Sent {
    return { method: 'POST', suffix: '/restore' };
  }

  protected expect(model: ReferenceModel, session: number, org: number): Expected {
    return model.restoreOrg(session, org);
  }
}
