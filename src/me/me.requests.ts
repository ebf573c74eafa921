import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { RECENT_LOGIN } from '../access/route-access.js';
import { IsAcceptablePassword, IsPassword } from '../auth/passwords/password.decorators.js';
import { IsEmailAddress, IsProfileField } from '../users/user.fields.js';
import { SecondFactorCode } from '../auth/sessions/sessions.requests.js';
import { IfGiven, IsText, PageCursor, PageLimit } from '../http/fields.js';

/** of a user without a password, whose session is not a recent login at a provider */
export const NO_PROVIDER_LOGIN = { code: 'insufficient_user_authentication', detail: RECENT_LOGIN } as const;

const OwnPassword = (): PropertyDecorator =>
  applyDecorators(
    IfGiven(),
    IsPassword({
      description:
        'The current password. Required if the user has one. Otherwise the session must be a login at a provider in the last 10 minutes.',
    }),
  );

export class EnrollSecondFactorRequest {
  @OwnPassword() password?: string;
}

export class ChangeEmailRequest {
  /** The new email. */
  @IsEmailAddress('ada.lovelace@example.com') email: string;

  @OwnPassword() password?: string;

  @SecondFactorCode() code?: string;
}

export class ChangePasswordRequest {
  @OwnPassword() currentPassword?: string;

  /** The new password, under the rules of registration. */
  @IsAcceptablePassword('an engine weaves algebraic patterns') newPassword: string;

  @SecondFactorCode() code?: string;
}

/** The password and a code, since either alone may be stolen. */
export class ChangeSecondFactorRequest {
  @OwnPassword() password?: string;

  /** A TOTP code of six digits, or a recovery code. Case, spaces and hyphens make no difference. */
  @IsText(6, 64, { example: '492039' }) code: string;
}

export class ConfirmSecondFactorRequest {
  /** A TOTP code: the six digits that the authenticator app shows. Spaces make no difference. */
  @IsText(6, 64, { example: '492039' }) code: string;
}

export class DeleteAccountRequest {
  @OwnPassword() password?: string;

  @SecondFactorCode() code?: string;
}

export class EndSessionsQuery {
  /** Whether the session of the access token is revoked, too. The default is false. */
  @ApiProperty({ type: Boolean })
  @IfGiven()
  @ValidateBy({
    name: 'isBooleanText',
    validator: {
      validate: (value) => value === 'true' || value === 'false',
      defaultMessage: () => 'must be true or false',
    },
  })
  all?: string;
}

export class ListOwnOrgsQuery {
  @PageLimit('organizations') limit?: string;
  @PageCursor() cursor?: string;
}

export class UpdateProfileRequest {
  @IsProfileField('name') name?: string | null;
  @IsProfileField('avatarUrl') avatarUrl?: string | null;
  @IsProfileField('locale') locale?: string | null;
}

/** Swagger UI sends the first one as it stands. */
export const PROFILE_CHANGES = {
  nothing: { summary: 'no field: nothing changes', value: {} },
  everything: {
    summary: 'every field',
    value: { name: 'Ada Lovelace', avatarUrl: 'https://example.com/ada.png', locale: 'en-GB' },
  },
};

export class VerifyEmailRequest {
  /** The emailed code. Case, spaces and hyphens make no difference. */
  @IsText(10, 64, { example: '7K2M9-QX4TB' }) code: string;
}
