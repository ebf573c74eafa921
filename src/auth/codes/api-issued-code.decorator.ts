import { applyDecorators } from '@nestjs/common';
import { ApiCreatedResponse, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { BoundCodeResult, CodeResult } from '../dto/auth.responses.js';

export const ApiIssuedCode = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(CodeResult, BoundCodeResult),
    ApiCreatedResponse({ schema: { $ref: getSchemaPath('IssuedCode') } }),
  );
