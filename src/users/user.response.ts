import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** A user as others see one. */
@ApiSchema({ name: 'User' })
export class UserResponse {
  /** @example "019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f" */
  @ApiProperty({ format: 'uuid' })
  id: string;

  /** @example "ada@example.com" */
  @ApiProperty({ format: 'email', maxLength: 254 })
  email: string;
}
