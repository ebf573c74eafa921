import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { RefreshableSignIn, SignIn } from './dto/auth.responses.js';

/** A session, with a refresh token if the body asked for one. */
export const ApiSignIn = (status: number): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(SignIn, RefreshableSignIn),
    ApiResponse({ status, schema: { $ref: getSchemaPath('SignInResult') } }),
  );
