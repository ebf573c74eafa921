import { Problem } from '../problems/problem.js';

export class InvitationNotFoundError extends Problem {
  constructor() {
    super('invitation_not_found');
  }
}

export class AlreadyInvitedError extends Problem {
  /** @param pendingId of the invitation that is pending, where that is known */
  constructor(pendingId: string | null = null) {
    super('already_invited', {
      ...(pendingId !== null && { remedy: { action: 'resend', invitationId: pendingId } }),
    });
  }
}

/** Accepted, declined, revoked or expired, or its inviter may not invite any more. */
export class InvitationEndedError extends Problem {
  constructor() {
    super('invitation_ended');
  }
}

export class TooManyInvitationsError extends Problem {
  constructor() {
    super('too_many_invitations');
  }
}

export class EmailNotVerifiedError extends Problem {
  constructor() {
    super('email_not_verified');
  }
}
