import { ApiProperty } from '@nestjs/swagger';

/** Documents a property of so many base64url characters (RFC 4648 section 5). */
export const ApiBase64Url = (length: number, { required = true } = {}): PropertyDecorator =>
  ApiProperty({ pattern: '^[A-Za-z0-9_-]+$', minLength: length, maxLength: length, required });
