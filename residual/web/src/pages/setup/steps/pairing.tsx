import type { JSX } from 'preact';
import { enter, info } from '../../../api/node.ts';
import { Note } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { Claim, claimed, StoreKey } from '../claim.tsx';
import type { StepProps } from '../status.ts';

export function PairingStep({ reload, complete }: StepProps): JSX.Element {
  if (claimed.value !== null) return <StoreKey value={claimed.value} onStored={() => void complete()} />;
  if (info.value?.paired !== false) return <Note tone="good">{t.setup.pairing.is}</Note>;
  return (
    <Claim
      onClaimed={() => {
        reload();
        void enter().catch(() => undefined); // the page goes on asking
      }}
    />
  );
}
