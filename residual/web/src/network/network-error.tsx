import type { JSX } from 'preact';
import type { Refused } from '../api/client.ts';
import { ErrorNote, Note } from '../parts/parts.tsx';
import { t } from '../strings.ts';

/** Why the node says nothing of its network; on a machine without NetworkManager, as most desktops are, that is no fault. */
export function NetworkError({
  error,
  onRetry,
}: {
  readonly error: Refused | null;
  readonly onRetry: () => void;
}): JSX.Element | null {
  const missing = error?.extras['missing'];
  if (missing === 'nmcli' || missing === 'NetworkManager') return <Note>{t.node.network.elsewhere}</Note>;
  return <ErrorNote error={error} onRetry={onRetry} />;
}
