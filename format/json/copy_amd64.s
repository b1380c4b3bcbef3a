#include "textflag.h"

// Sixteen of each: the quote, the backslash, the space.
DATA quotes<>+0(SB)/8, $0x2222222222222222
DATA quotes<>+8(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $16
DATA slashes<>+0(SB)/8, $0x5C5C5C5C5C5C5C5C
DATA slashes<>+8(SB)/8, $0x5C5C5C5C5C5C5C5C
GLOBL slashes<>(SB), RODATA|NOPTR, $16
DATA spaces<>+0(SB)/8, $0x2020202020202020
DATA spaces<>+8(SB)/8, $0x2020202020202020
GLOBL spaces<>(SB), RODATA|NOPTR, $16

// func copyPlain(to, from unsafe.Pointer, room int) (n int)
//
// It takes two times sixteen bytes a step, by SSE2, which every amd64 has. A signed comparison finds what is below a space: control
// characters, and the bytes of other characters than those of ASCII, which count as negative.
TEXT ·copyPlain(SB), NOSPLIT, $0-32
	MOVQ  to+0(FP), DI
	MOVQ  from+8(FP), SI
	MOVQ  room+16(FP), CX
	XORL  AX, AX
	MOVOU quotes<>(SB), X5
	MOVOU slashes<>(SB), X6
	MOVOU spaces<>(SB), X7
	SUBQ  $32, CX
	JLT   done

step:
	MOVOU    (SI)(AX*1), X0
	MOVOU    16(SI)(AX*1), X1
	MOVOU    X0, (DI)(AX*1)
	MOVOU    X1, 16(DI)(AX*1)
	MOVO     X7, X2
	MOVO     X7, X3
	PCMPGTB  X0, X2
	PCMPGTB  X1, X3
	MOVO     X0, X4
	PCMPEQB  X5, X4
	PCMPEQB  X6, X0
	POR      X4, X2
	POR      X0, X2
	MOVO     X1, X4
	PCMPEQB  X5, X4
	PCMPEQB  X6, X1
	POR      X4, X3
	POR      X1, X3
	PMOVMSKB X2, BX
	PMOVMSKB X3, DX
	SHLL     $16, DX
	ORL      DX, BX
	JNE      found
	ADDQ     $32, AX
	CMPQ     AX, CX
	JLE      step

done:
	MOVQ AX, n+24(FP)
	RET

found:
	BSFL BX, BX
	ADDQ BX, AX
	MOVQ AX, n+24(FP)
	RET
