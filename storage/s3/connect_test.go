package s3

import (
	"bytes"
	"context"
	"io"
	"testing"

	smithymiddleware "github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

func TestBodiesOfRequestsAreReadEvenIfTheyCouldBeWritten(t *testing.T) {
	stack := smithymiddleware.NewStack("test", smithyhttp.NewStackRequest)
	if err := plainBodies(stack); err != nil {
		t.Fatal(err)
	}
	err := stack.Serialize.Add(smithymiddleware.SerializeMiddlewareFunc("body", func(
		ctx context.Context, in smithymiddleware.SerializeInput, next smithymiddleware.SerializeHandler,
	) (out smithymiddleware.SerializeOutput, metadata smithymiddleware.Metadata, err error) {
		if in.Request, err = in.Request.(*smithyhttp.Request).SetStream(bytes.NewReader([]byte("abc"))); err != nil {
			return out, metadata, err
		}
		return next.HandleSerialize(ctx, in)
	}), smithymiddleware.After)
	if err != nil {
		t.Fatal(err)
	}
	handler := smithymiddleware.HandlerFunc(func(ctx context.Context, in any) (any, smithymiddleware.Metadata, error) {
		request := in.(*smithyhttp.Request)
		if length, known, err := request.StreamLength(); length != 3 || !known || err != nil {
			t.Errorf("the body has a length of %d, %v, %v", length, known, err)
		}
		body := request.Build(ctx).Body
		if _, writes := body.(io.WriterTo); writes {
			t.Error("the body can be written by WriteTo")
		}
		if got, err := io.ReadAll(body); string(got) != "abc" || err != nil {
			t.Errorf("body %q, %v", got, err)
		}
		return nil, smithymiddleware.Metadata{}, nil
	})
	if _, _, err := smithymiddleware.DecorateHandler(handler, stack).Handle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}
