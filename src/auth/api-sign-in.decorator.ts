import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { RefreshableSignIn, SignIn } from './dto/auth.responses.js';

export const ApiSignIn = (status: number): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(SignIn, RefreshableSignIn),
    ApiResponse({ status, schema: { $ref: getSchemaPath('SignInResult') } }),
  );
