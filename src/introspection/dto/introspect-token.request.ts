import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIwMTlhOGYzZSJ9.c2lnbmF0dXJl';
const ORG_ID = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';

export const INTROSPECTIONS = {
  token: { summary: 'the token alone', value: { token: TOKEN } },
  org: { summary: 'the token, and the role in an organization', value: { token: TOKEN, orgId: ORG_ID } },
};

/** Describes the form; `IntrospectionForm` reads it. */
export class IntrospectTokenRequest {
  /** token to ask about */
  @ApiProperty({ minLength: 1 })
  token: string;

  /** organization in which to look up the user's role */
  @ApiPropertyOptional({ format: 'uuid' })
  orgId?: string;

  /** ignored: there is one kind of token that can be active */
  @ApiPropertyOptional({ type: String, minLength: 1 })
  token_type_hint?: string;
}
