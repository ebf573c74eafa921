import { applyDecorators } from '@nestjs/common';
import { IfGiven, IsFlag, IsOneLine, IsText } from '../../http/fields.js';

export const MAX_DEVICE_NAME = 60;

export const DeviceName = (otherwise = ''): PropertyDecorator =>
  applyDecorators(
    IfGiven(),
    IsOneLine(MAX_DEVICE_NAME, {
      description:
        `The user's name for this device, of 1 to ${MAX_DEVICE_NAME} characters after trimming. ` +
        `The list of sessions shows it.${otherwise}`,
      example: "Ada's laptop",
    }),
  );

export const Refreshable = (): PropertyDecorator =>
  IsFlag({
    description:
      'If true, the response has a refresh token, and access tokens expire after 15 minutes (configurable). The ' +
      'default is false.',
    example: true,
  });

/** A code beside the password, or beside what a provider confirmed. */
export const SecondFactorCode = (): PropertyDecorator =>
  applyDecorators(
    IfGiven(),
    IsText(6, 64, {
      description: 'A TOTP code or a recovery code. Required if two-factor authentication is on.',
      example: '492 039',
    }),
  );
