import { ApiError, messageOf } from '../../../shared/errors.ts';

/** What the extension answered, as the routes have it. */
export function toolFailure(error: unknown, id: string, tool: string): ApiError {
  const words = messageOf(error);
  const kind = words.split(':', 1)[0] ?? '';
  switch (kind) {
    case 'plugin_not_running':
    case 'plugin_disconnected':
    case 'it hung up':
      return new ApiError('E_NOT_FOUND', `The extension ${id} is not running.`, { kind });
    case 'tool_not_found':
      return new ApiError('E_NOT_FOUND', `${id} has no tool ${tool}.`, { kind });
    case 'capability_denied':
      return new ApiError('E_CAPABILITY', `${id}: ${words}.`, { kind });
    case 'tool_timeout':
      return new ApiError('E_TIMEOUT', `${id} did not answer in time.`, { kind });
    default:
      return new ApiError('E_BAD_REQUEST', `${id} refused: ${words}`, { kind: 'tool_failed' });
  }
}
