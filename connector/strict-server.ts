import {
  isSpecType,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** Of the requests that this server answers. */
const FITS: Readonly<Record<string, (request: unknown) => boolean>> = {
  'tools/list': isSpecType.ListToolsRequest,
  'tools/call': isSpecType.CallToolRequest,
  'resources/list': isSpecType.ListResourcesRequest,
  'resources/templates/list': isSpecType.ListResourceTemplatesRequest,
  'resources/read': isSpecType.ReadResourceRequest,
  'resources/subscribe': isSpecType.SubscribeRequest,
  'resources/unsubscribe': isSpecType.UnsubscribeRequest,
  'prompts/list': isSpecType.ListPromptsRequest,
  'prompts/get': isSpecType.GetPromptRequest,
  'completion/complete': isSpecType.CompleteRequest,
};

/** The SDK calls a request that does not fit its method an internal error; JSON-RPC calls it invalid params. */
export class StrictServer extends Server {
  // oxlint-disable-next-line no-underscore-dangle -- the SDK's own name
  protected override _wrapHandler(
    method: string,
    handler: (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>,
  ): (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result> {
    // oxlint-disable-next-line no-underscore-dangle -- as above
    const wrapped = super._wrapHandler(method, handler);
    return async (request, ctx) => {
      try {
        return await wrapped(request, ctx);
      } catch (error) {
        const { jsonrpc: _, id: __, ...asked } = request;
        if (error instanceof ProtocolError || FITS[method]?.(asked) !== false) throw error;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The params do not fit ${method}.`);
      }
    };
  }
}
