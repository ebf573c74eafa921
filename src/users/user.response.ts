import { ApiSchema } from '@nestjs/swagger';
import { ApiEmail, ApiId } from '../openapi/decorators.js';

/** A user as others see one. */
@ApiSchema({ name: 'User' })
export class UserResponse {
  @ApiId({ example: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f' }) id: string;
  @ApiEmail({ example: 'ada@example.com' }) email: string;
}
