import { Problem } from '../../problems/problem.js';

export class InvitationNotFoundError extends Problem {
  constructor() {
    super('invitation_not_found');
  }
}

export class AlreadyInvitedError extends Problem {
  constructor(pendingId: string | null = null) {
    super('already_invited', {
      ...(pendingId !== null && { remedy: { action: 'resend', invitationId: pendingId } }),
    });
  }
}

/** Also refuses a pending invitation whose inviter may not invite any more. */
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
