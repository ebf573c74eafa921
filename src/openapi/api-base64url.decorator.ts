import { ApiProperty } from '@nestjs/swagger';

/** RFC 4648 section 5, without padding. */
export const ApiBase64Url = (length: number, { required = true } = {}): PropertyDecorator =>
  ApiProperty({ pattern: '^[A-Za-z0-9_-]+$', minLength: length, maxLength: length, required });
