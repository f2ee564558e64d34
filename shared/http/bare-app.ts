/** An application of Express that adds nothing of its own to a request or an answer. @returns the same */
export function bareApp<
  App extends { disable(setting: string): unknown; set(setting: string, value: unknown): unknown },
>(app: App): App {
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('env', 'production'); // no stack trace if Express ever answers an error itself
  return app;
}
