import { ApiSchema } from '@nestjs/swagger';
import { applyDecorators } from '@nestjs/common';
import { ApiEmail, ApiId, ApiText } from '../openapi/decorators.js';
import { IfGiven, ReadBy, ReadOrNull } from '../http/fields.js';
import { normalizedEmail, emailPrefix } from './email-address.js';
import { PROFILE, type ProfileFieldName } from './profile.js';

/** A user as others see one. */
@ApiSchema({ name: 'User' })
export class UserDto {
  @ApiId({ example: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f' }) id: string;
  @ApiEmail({ example: 'ada@example.com' }) email: string;
}

export const ApiProfileField = (name: ProfileFieldName): PropertyDecorator => {
  const { maxLength, example, description } = PROFILE[name];
  return ApiText(1, maxLength, { nullable: true, example, description });
};

/** An optional field of a profile in a request, replaced with its stored form. */
export const IsProfileField = (name: ProfileFieldName): PropertyDecorator =>
  applyDecorators(ApiProfileField(name), ReadOrNull(PROFILE[name].read, PROFILE[name].expected));

/** What other members see of a profile. */
@ApiSchema({ name: 'PublicProfile' })
export class PublicProfileDto {
  @ApiProfileField('name') name: string | null;
  @ApiProfileField('avatarUrl') avatarUrl: string | null;
}

@ApiSchema({ name: 'Profile' })
export class ProfileDto extends PublicProfileDto {
  @ApiProfileField('locale') locale: string | null;
}

/** Replaces the property with its normalized form; refuses text that has none. */
export const IsEmailAddress = (example?: string): PropertyDecorator =>
  applyDecorators(
    ApiEmail(example === undefined ? {} : { example }),
    ReadBy(normalizedEmail, 'must be an email address'),
  );

const MAX_LENGTH = 254;
/** A search for text that no email can begin with finds nothing, like any other that finds nothing. */
const NO_BEGINNING = ' ';

export const INVALID_EMAIL_SEARCH = `must be a single text of 1 to ${MAX_LENGTH} characters`;

/** Accepts the beginning of emails as the query parameter `search`, and converts it to its normalized form. */
export const EmailSearch = (description: string): PropertyDecorator =>
  applyDecorators(ApiText(1, MAX_LENGTH, { description }), IfGiven(), ReadBy(toPrefix, INVALID_EMAIL_SEARCH));

/** @returns undefined for what is rejected */
function toPrefix(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > MAX_LENGTH) return undefined;
  return beginningOf(value);
}

/** @returns the beginning of normalized emails, or text that no email begins with */
export function beginningOf(search: string): string {
  return emailPrefix(search) ?? NO_BEGINNING;
}
