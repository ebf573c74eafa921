import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { IsOneLine } from '../../http/is-one-line.decorator.js';

export const MAX_DEVICE_NAME = 60;

/** The user's name for the device, shown in the list of their sessions. */
export const DeviceName = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      minLength: 1,
      maxLength: MAX_DEVICE_NAME,
      example: "Ada's laptop",
    }),
    ValidateIf((body: { deviceName?: unknown }) => body.deviceName !== undefined),
    IsOneLine(MAX_DEVICE_NAME),
  );
