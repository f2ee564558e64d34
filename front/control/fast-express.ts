import { IncomingMessage, ServerResponse } from 'node:http';
import express from 'express';
import { bareApp } from '../../shared/http/bare-app.ts';

export interface FastExpress {
  /** For `http.createServer(options, app)`. */
  readonly options: {
    readonly IncomingMessage: typeof IncomingMessage;
    readonly ServerResponse: typeof ServerResponse;
  };
  readonly app: ReturnType<typeof express>;
}

/**
 * An Express 5 application at full speed. Express sets the prototype of each request and response with `Object.setPrototypeOf`,
 * which makes V8 drop its optimisations. Here the server creates them with Express's members already in the prototype chain, so
 * that call changes nothing.
 */
export function createFastExpress(): FastExpress {
  const app = bareApp(express());

  class Request extends IncomingMessage {}
  class Response<Req extends IncomingMessage = IncomingMessage> extends ServerResponse<Req> {}
  Object.defineProperties(Request.prototype, Object.getOwnPropertyDescriptors(express.request));
  Object.defineProperties(Response.prototype, Object.getOwnPropertyDescriptors(express.response));
  for (const prototype of [Request.prototype, Response.prototype]) {
    Object.defineProperty(prototype, 'app', {
      value: app,
      writable: true,
      configurable: true,
      enumerable: true,
    });
  }
  // Express reads these two when a request comes in; its types call them read-only.
  Object.assign(app, { request: Request.prototype, response: Response.prototype });
  return { options: { IncomingMessage: Request, ServerResponse: Response }, app };
}
