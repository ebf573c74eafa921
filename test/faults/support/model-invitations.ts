export interface ModelInvitation {
  org: number;
  /** of whom it is for */
  email: string;
  role: 'member' | 'admin';
  /** the inviter */
  by: string;
  status: 'pending' | 'accepted' | 'declined' | 'revoked';
}

/** Invitations as the rules have them; they are named by the order of their making. */
export class ModelInvitations {
  readonly all: ModelInvitation[] = [];

  get(index: number): ModelInvitation {
    const found = this.all[index];
    if (!found) throw new Error(`the model has no invitation ${index}`);
    return found;
  }

  pendingOf(org: number, email: string): ModelInvitation | undefined {
    return this.all.find((one) => one.org === org && one.email === email && one.status === 'pending');
  }

  revokeOfEmail(org: number, email: string): void {
    const pending = this.pendingOf(org, email);
    if (pending) pending.status = 'revoked';
  }

  revokeOfOrg(org: number): void {
    for (const one of this.all) {
      if (one.org === org && one.status === 'pending') one.status = 'revoked';
    }
  }

  revokeOfInviter(org: number, by: string): void {
    for (const one of this.all) {
      if (one.org === org && one.by === by && one.status === 'pending') one.status = 'revoked';
    }
  }
}
